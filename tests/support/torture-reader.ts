/**
 * A reader of the torture run: subscribes by event streams or by polls, and is disconnected repeatedly.
 */
import { get, type IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { callFunction } from "./call-function.ts";
import { readEvents } from "./event-stream.ts";
import type { SeededRandom } from "./seeded-random.ts";
import type { DeliveryFault, FaultKind } from "./torture-check.ts";

/** How long a connection lasts after everything has been published. */
const LAST_CONNECTION_MS = 1_000;

/** How long a response may take that does not wait for messages. */
const RESPONSE_TIMEOUT_MS = 10_000;

/** What a reader subscribes to, and how. */
export interface ReaderOptions {
  readonly name: string;
  /** The client address that it sends to the proxy: polls are limited for each client. */
  readonly address: string;
  /** Whether it polls instead of opening event streams. */
  readonly isPolling: boolean;
  readonly channels: readonly string[];
  /** The origin that it sends requests to. */
  readonly origin: string;
  readonly random: SeededRandom;
  /** The range of the time after which it aborts a connection. */
  readonly connectionMs: readonly [min: number, max: number];
  /** Changes the cursor before it resumes. The tests of the torture run simulate faulty clients with it. */
  readonly changeCursor?: (cursor: string) => string;
}

/** The requests of a reader. */
export interface RequestCounts {
  sent: number;
  /** The number of requests that got status 200. */
  accepted: number;
  /** The number of requests that the reader aborted while messages could still come. */
  aborted: number;
  /** The number of requests that failed: refused, no response, or a broken connection. */
  failed: number;
}

/** A reader. */
export class TortureReader {
  readonly options: ReaderOptions;
  /** The messages that it received, for each of its channels. */
  readonly received: readonly string[][];
  readonly faults: DeliveryFault[] = [];
  readonly counts: RequestCounts = { sent: 0, accepted: 0, aborted: 0, failed: 0 };
  #feeds: readonly string[] = [];
  #cursor = "";
  /** The last message of each channel; `undefined` until it is known. */
  #lastMessages: readonly string[] | undefined;
  #isStopped = false;
  #abort = new AbortController();

  constructor(options: ReaderOptions) {
    this.options = options;
    this.received = options.channels.map(() => []);
  }

  /** Its feeds, in the order of its channels. */
  get feeds(): readonly string[] {
    return this.#feeds;
  }

  /** Gets its feeds. From now on it has to receive every message. */
  async fetchFeeds(): Promise<void> {
    while (this.#feeds.length === 0 && !this.#isStopped) {
      try {
        this.#feeds = await callFunction<string[]>(this.options.origin, "issue_feeds", {
          names: this.options.channels,
        });
      } catch {
        await this.#pause(); // a server or the bus is down
      }
    }
  }

  /** Connects repeatedly, until it has received the last message of each channel or there is nothing to read. */
  async readToEnd(): Promise<void> {
    while (!this.#isStopped) {
      await this.#connect();
      if (this.#lastMessages && (await this.#pollRest())) return;
    }
  }

  /** Sets the last message of each channel. From now on, connections are long enough to reach it. */
  setLastMessages(lastOf: (channel: string) => string): void {
    this.#lastMessages = this.options.channels.map(lastOf);
  }

  /** Stops reading. */
  stop(): void {
    this.#isStopped = true;
    this.#abort.abort();
  }

  get #isComplete(): boolean {
    return this.#lastMessages?.every((text, i) => this.received[i]?.includes(text)) ?? false;
  }

  /** Sends one request, and aborts it after a random time. */
  async #connect(): Promise<void> {
    const { random, isPolling, connectionMs } = this.options;
    const ms = this.#lastMessages ? LAST_CONNECTION_MS : random.integer(...connectionMs);
    const usesHeader = random.chance(0.5);
    const abortsBeforeResponse = random.chance(0.3);
    this.counts.sent++;
    const abort = new AbortController();
    this.#abort = abort;
    let timer = setTimeout(() => abort.abort(), abortsBeforeResponse ? ms : RESPONSE_TIMEOUT_MS);
    const onAccepted = () => {
      this.counts.accepted++;
      clearTimeout(timer);
      timer = setTimeout(() => abort.abort(), ms);
    };
    const request = { signal: abort.signal, onAccepted };
    try {
      if (isPolling) this.#addResponse(await this.#poll(1, request));
      else await this.#readEventStream(usesHeader, request);
    } catch {
      if (abort.signal.aborted) this.counts.aborted++;
      else this.counts.failed++;
      if (!abort.signal.aborted) await this.#pause();
    } finally {
      clearTimeout(timer);
      abort.abort();
    }
  }

  async #readEventStream(usesHeader: boolean, request: RequestOptions): Promise<void> {
    const after = this.#cursorToSend();
    const headers: Record<string, string> = usesHeader && after !== "" ? { "last-event-id": after } : {};
    const response = await this.#send(usesHeader ? "live?" : `live?${afterParameter(after)}`, request, headers);
    for await (const { event, id, data } of readEvents(Readable.toWeb(response) as ReadableStream<Uint8Array>)) {
      const [channel = "", text = ""] = data;
      if (event === "ping") continue;
      if (event === "message") this.#addMessage(channel, JSON.parse(text));
      else this.#addFault(event === "gap" ? "gap" : "response", `${event} ${data.join(" ")}`);
      this.#cursor = id;
      if (this.#isComplete) return;
    }
  }

  async #poll(wait: number, request: RequestOptions): Promise<PollResponse> {
    const response = await this.#send(`poll?${afterParameter(this.#cursorToSend())}wait=${wait}&`, request);
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk);
    return JSON.parse(Buffer.concat(chunks).toString());
  }

  /** Polls for missing and for unexpected messages. @returns whether there are no more */
  async #pollRest(): Promise<boolean> {
    try {
      const response = await this.#poll(0, { signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS) });
      this.#addResponse(response);
      return this.#isComplete || response.events.length === 0;
    } catch {
      await this.#pause();
      return false;
    }
  }

  #addResponse({ events, gaps, cursor }: PollResponse): void {
    for (const [channel, text] of events) this.#addMessage(channel, text);
    for (const gap of gaps) this.#addFault("gap", gap.join(" "));
    this.#cursor = cursor;
  }

  #addMessage(channel: string, text: string): void {
    const received = this.received[this.options.channels.indexOf(channel)];
    if (received) received.push(text);
    else this.#addFault("response", `a message of ${channel}, to which the reader has not subscribed`);
  }

  #cursorToSend(): string {
    return this.#cursor === "" ? "" : (this.options.changeCursor?.(this.#cursor) ?? this.#cursor);
  }

  /**
   * @throws Error for another status than 200. The statuses 502 to 504 are expected while a server or the bus is down;
   *   any other status is recorded as a fault.
   */
  async #send(
    pathAndQuery: string,
    { signal, onAccepted }: RequestOptions,
    headers: Record<string, string> = {},
  ): Promise<IncomingMessage> {
    const feeds = this.#feeds.map((feed) => `feed=${feed}`).join("&");
    const url = `${this.options.origin}/__web/${pathAndQuery}${feeds}`;
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const allHeaders = { ...headers, "x-forwarded-for": this.options.address };
      get(url, { agent: false, headers: allHeaders, signal }, resolve).on("error", reject);
    });
    const { statusCode = 0 } = response;
    if (statusCode === 200) {
      onAccepted?.();
      return response;
    }
    if (statusCode < 502 || statusCode > 504) this.#addFault("response", `status ${statusCode}`);
    response.destroy();
    throw new Error(`Unexpected status ${statusCode}.`);
  }

  #pause(): Promise<void> {
    return pause(this.options.random.integer(20, 100));
  }

  #addFault(kind: FaultKind, what: string): void {
    this.faults.push({ kind, description: `${this.options.name}: ${what}` });
  }
}

interface RequestOptions {
  readonly signal: AbortSignal;
  /** Called when the response has status 200. */
  readonly onAccepted?: () => void;
}

interface PollResponse {
  readonly events: readonly (readonly [channel: string, text: string])[];
  readonly gaps: readonly (readonly [channel: string, reason: string])[];
  readonly cursor: string;
}

function afterParameter(cursor: string): string {
  return cursor === "" ? "" : `after=${cursor}&`;
}
