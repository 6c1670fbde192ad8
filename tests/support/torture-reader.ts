/**
 * One who listens and is cut off again and again: by a stream or by polls, through whatever stands between.
 */
import { get, type IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { readEvents } from "./event-stream.ts";
import { callFunction } from "./torture-call.ts";
import type { Fault, FaultKind } from "./torture-check.ts";
import type { Chance } from "./torture-random.ts";

/** How long a visit lasts once all has been published. */
const LAST_VISIT_MS = 1_000;

/** How long an answer may take that has not to wait for anything. */
const ANSWER_MS = 10_000;

/** Who listens, to what, and how. */
export interface ReaderPlan {
  readonly name: string;
  /** Its own, as it says to the proxy: how often one client may poll is limited. */
  readonly address: string;
  readonly isPolling: boolean;
  readonly channels: readonly string[];
  /** Where it asks. */
  readonly entry: string;
  readonly chance: Chance;
  /** How long a visit lasts before it is cut off: between the two, in milliseconds. */
  readonly visitMs: readonly [least: number, most: number];
  /** Changes the cursor that it comes back with; the tests of the harness break it so. */
  readonly resume?: (cursor: string) => string;
}

/** What it has been through. */
export interface Visits {
  /** How often it asked. */
  asked: number;
  /** How often it was let in. */
  answered: number;
  /** How often it was cut off while something could still come. */
  cut: number;
  /** How often it was not let in, or not answered. */
  failed: number;
}

/** A reader. */
export class TortureReader {
  readonly plan: ReaderPlan;
  /** What it got, by its channels. */
  readonly got: readonly string[][];
  readonly faults: Fault[] = [];
  readonly visits: Visits = { asked: 0, answered: 0, cut: 0, failed: 0 };
  #feeds: readonly string[] = [];
  #cursor = "";
  /** The last message of each channel, once it is known. */
  #last: readonly string[] | undefined;
  #isOver = false;
  #cutting = new AbortController();

  constructor(plan: ReaderPlan) {
    this.plan = plan;
    this.got = plan.channels.map(() => []);
  }

  /** Its feeds, in the order of its channels. */
  get feeds(): readonly string[] {
    return this.#feeds;
  }

  /** Gets its feeds: from now on it has to get everything. */
  async join(): Promise<void> {
    while (this.#feeds.length === 0 && !this.#isOver) {
      try {
        this.#feeds = await callFunction<string[]>(this.plan.entry, "feeds", { names: this.plan.channels });
      } catch {
        await this.#rest(); // a server or the bus is down: as a page that could not be loaded
      }
    }
  }

  /** Asks, is cut off, and asks again, until it has come to the end that {@link finish} names, or nothing comes. */
  async read(): Promise<void> {
    while (!this.#isOver) {
      await this.#visit();
      if (this.#last && (await this.#lookAgain())) return;
    }
  }

  /** Says what is last in each channel: from now on it is not cut off any more. */
  finish(lastOf: (channel: string) => string): void {
    this.#last = this.plan.channels.map(lastOf);
  }

  /** Stops waiting for what does not come. */
  giveUp(): void {
    this.#isOver = true;
    this.#cutting.abort();
  }

  get #isComplete(): boolean {
    return this.#last?.every((text, at) => this.got[at]?.includes(text)) ?? false;
  }

  /** Asks once, for as long as chance gives it. */
  async #visit(): Promise<void> {
    const { chance, isPolling, visitMs } = this.plan;
    const ms = this.#last ? LAST_VISIT_MS : chance.between(...visitMs);
    const isHeader = chance.isOnce(0.5);
    const isHasty = chance.isOnce(0.3); // does not wait for the answer, either
    this.visits.asked++;
    const cutting = new AbortController();
    this.#cutting = cutting;
    let timer = setTimeout(() => cutting.abort(), isHasty ? ms : ANSWER_MS);
    const answered = () => {
      this.visits.answered++;
      clearTimeout(timer);
      timer = setTimeout(() => cutting.abort(), ms);
    };
    try {
      if (isPolling) this.#take(await this.#poll(1, { signal: cutting.signal, answered }));
      else await this.#stream(isHeader, { signal: cutting.signal, answered });
    } catch {
      if (cutting.signal.aborted) this.visits.cut++;
      else this.visits.failed++;
      if (!cutting.signal.aborted) await this.#rest();
    } finally {
      clearTimeout(timer);
      cutting.abort();
    }
  }

  async #stream(isHeader: boolean, visit: Visit): Promise<void> {
    const after = this.#after();
    const headers: Record<string, string> = isHeader && after !== "" ? { "last-event-id": after } : {};
    const response = await this.#ask(isHeader ? "live?" : `live?${this.#query(after)}`, visit, headers);
    for await (const { event, id, data } of readEvents(Readable.toWeb(response) as ReadableStream<Uint8Array>)) {
      const [channel = "", text = ""] = data;
      if (event === "ping") continue;
      if (event === "message") this.#takeOne(channel, JSON.parse(text));
      else this.#fault(event === "gap" ? "gap" : "answer", `${event} ${data.join(" ")}`);
      this.#cursor = id;
      if (this.#isComplete) return;
    }
  }

  async #poll(wait: number, visit: Visit): Promise<PollAnswer> {
    const response = await this.#ask(`poll?${this.#query(this.#after())}wait=${wait}&`, visit);
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk);
    return JSON.parse(Buffer.concat(chunks).toString());
  }

  /** Polls for what may be left, or have come too much. @returns whether there is nothing more to come */
  async #lookAgain(): Promise<boolean> {
    try {
      const answer = await this.#poll(0, { signal: AbortSignal.timeout(ANSWER_MS) });
      this.#take(answer);
      return this.#isComplete || answer.events.length === 0;
    } catch {
      await this.#rest();
      return false;
    }
  }

  #take({ events, gaps, cursor }: PollAnswer): void {
    for (const [channel, text] of events) this.#takeOne(channel, text);
    for (const gap of gaps) this.#fault("gap", gap.join(" "));
    this.#cursor = cursor;
  }

  #takeOne(channel: string, text: string): void {
    const got = this.got[this.plan.channels.indexOf(channel)];
    if (got) got.push(text);
    else this.#fault("answer", `a message to ${channel}, which it does not listen to`);
  }

  #after(): string {
    return this.#cursor === "" ? "" : (this.plan.resume?.(this.#cursor) ?? this.#cursor);
  }

  #query(after: string): string {
    return after === "" ? "" : `after=${after}&`;
  }

  /** Asks for its feeds. @throws Error where it is not let in; where that is a mistake, it is a fault */
  async #ask(
    what: string,
    { signal, answered }: Visit,
    headers: Record<string, string> = {},
  ): Promise<IncomingMessage> {
    const url = `${this.plan.entry}/__web/${what}${this.#feeds.map((feed) => `feed=${feed}`).join("&")}`;
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const all = { ...headers, "x-forwarded-for": this.plan.address };
      get(url, { agent: false, headers: all, signal }, resolve).on("error", reject);
    });
    const { statusCode = 0 } = response;
    if (statusCode === 200) {
      answered?.();
      return response;
    }
    // What stands between, and a server whose bus is away, may say so.
    if (statusCode < 502 || statusCode > 504) this.#fault("answer", `status ${statusCode}`);
    response.destroy();
    throw new Error(`It answered ${statusCode}.`);
  }

  #rest(): Promise<void> {
    return pause(this.plan.chance.between(20, 100));
  }

  #fault(kind: FaultKind, what: string): void {
    this.faults.push({ kind, what: `${this.plan.name}: ${what}` });
  }
}

interface Visit {
  readonly signal: AbortSignal;
  /** Told when it is let in. */
  readonly answered?: () => void;
}

interface PollAnswer {
  readonly events: readonly (readonly [channel: string, text: string])[];
  readonly gaps: readonly (readonly [channel: string, reason: string])[];
  readonly cursor: string;
}
