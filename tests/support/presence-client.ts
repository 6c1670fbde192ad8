/**
 * A page with presence, without a browser: opens an event stream with its token, and applies the frames as a browser does.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Person, PresenceFrame } from "../../src/protocol/index.ts";
import { readEvents } from "./event-stream.ts";

/** How long a page waits at least until it connects again; doubled after each failure. */
const RETRY_MS = 1_000;
const MAX_RETRY_MS = 10_000;

/** What `presence` returns. */
export interface Here {
  readonly channel: string;
  readonly token: string;
  readonly list: readonly Person[];
  readonly v: string;
  readonly stale: boolean;
}

/** Sends a request to an application: its `fetch`, or one over the network. */
export type Send = (path: string, init: RequestInit) => Promise<Response>;

/** The list of a channel, by frames. */
export class PresenceClient {
  readonly #people = new Map<string, Person>();
  /** All frames, in order. */
  readonly frames: PresenceFrame[] = [];
  /** The ids of the entries that have been removed, also those that were added again. */
  readonly left = new Set<string>();
  /** The number of event streams that have started. */
  connections = 0;
  version: string | undefined;
  stale = false;
  /** Whether the token is not valid any more. */
  ended = false;
  /** The number of frames that did not continue the list. */
  mismatches = 0;
  readonly #abort = new AbortController();
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  #staying: AbortController | undefined;
  /** Settles when the event stream has ended. */
  done: Promise<void> = Promise.resolve();

  /** The entries, ordered by their ids. */
  get people(): readonly Person[] {
    return [...this.#people.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** The users, ordered, with their number of tabs if it is not 1: `alice`, `bob*2`. */
  get users(): readonly string[] {
    return this.people.map(({ user, tabs }) => `${user}${tabs === 1 ? "" : `*${tabs}`}`);
  }

  /** Opens an event stream with tokens. Resolves when it has started. */
  async open(send: Send, tokens: readonly string[], headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    const response = await send("/__web/live", postInit({ tokens }, headers, this.#abort.signal));
    if (response.ok) {
      this.connections++;
      this.done = this.#read(response.body);
    }
    return response;
  }

  /**
   * Opens an event stream, and another one whenever it has ended, until {@link close} or the next call. Resolves when the first
   * one has started.
   */
  async stay(...args: Parameters<PresenceClient["open"]>): Promise<Response> {
    this.#staying?.abort();
    const staying = new AbortController();
    this.#staying = staying;
    const response = await this.open(...args);
    void this.#reopen(args, staying.signal);
    return response;
  }

  apply(frame: PresenceFrame): void {
    this.frames.push(frame);
    const { all, from, set = [], del = [], v, stale = false, ended } = frame;
    if (all) {
      const ids = new Set(all.map(({ id }) => id));
      for (const id of this.#people.keys()) if (!ids.has(id)) this.left.add(id);
      this.#people.clear();
    } else if (v !== undefined && from !== this.version) this.mismatches++;
    for (const person of [...(all ?? []), ...set]) this.#people.set(person.id, person);
    for (const id of del) {
      this.#people.delete(id);
      this.left.add(id);
    }
    if (v !== undefined) this.version = v;
    this.stale = stale;
    this.ended ||= ended !== undefined;
  }

  /** Closes the event stream. */
  async close(): Promise<void> {
    this.#staying?.abort();
    this.#abort.abort();
    await this.#reader?.cancel().catch(() => undefined); // over the network, it was aborted
    await this.done;
  }

  async #reopen(args: Parameters<PresenceClient["open"]>, signal: AbortSignal): Promise<void> {
    for (let failures = 0; ; ) {
      await this.done;
      const ms = Math.min(MAX_RETRY_MS, RETRY_MS * 2 ** (failures + 1)) * (1 - Math.random() / 2);
      await pause(ms, undefined, { signal }).catch(() => undefined); // aborted
      if (signal.aborted) return;
      const response = await this.open(...args).catch(() => undefined); // not reachable
      if (response?.ok) failures = 0;
      else {
        failures++;
        await response?.body?.cancel();
      }
    }
  }

  async #read(body: ReadableStream<Uint8Array> | null): Promise<void> {
    const reader = body?.getReader();
    this.#reader = reader;
    async function* chunks() {
      for (let result = await reader?.read(); result && !result.done; result = await reader?.read()) yield result.value;
    }
    try {
      for await (const { event, data } of readEvents(chunks())) {
        if (event === "presence") this.apply(parseFrame(data[1] ?? ""));
      }
    } catch (error) {
      if (!this.#abort.signal.aborted && !/terminated|closed/.test(String(error))) throw error;
    }
  }
}

/** The last frames, by their text: a process sends the same one to all of its clients, which a thousand clients would parse each. */
const parsedFrames = new Map<string, PresenceFrame>();

function parseFrame(text: string): PresenceFrame {
  const known = parsedFrames.get(text);
  if (known) return known;
  const frame: PresenceFrame = JSON.parse(text);
  parsedFrames.set(text, frame);
  for (const oldest of parsedFrames.keys()) if (parsedFrames.size > 10) parsedFrames.delete(oldest);
  return frame;
}

/** Returns a POST with JSON. */
export function postInit(
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
  signal: AbortSignal | null = null,
): RequestInit {
  return {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
    signal,
  };
}
