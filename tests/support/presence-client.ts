/**
 * A page with presence, without a browser: opens an event stream with its token, and applies the frames as a browser does.
 */
import type { Person, PresenceFrame } from "../../src/protocol/index.ts";
import { readEvents } from "./event-stream.ts";

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
  version: string | undefined;
  stale = false;
  /** Whether the token is not valid any more. */
  ended = false;
  /** The number of frames that did not continue the list. */
  mismatches = 0;
  readonly #abort = new AbortController();
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
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
    if (response.ok) this.done = this.#read(response.body);
    return response;
  }

  apply(frame: PresenceFrame): void {
    this.frames.push(frame);
    const { all, from, set = [], del = [], v, stale = false, ended } = frame;
    if (all) this.#people.clear();
    else if (v !== undefined && from !== this.version) this.mismatches++;
    for (const person of [...(all ?? []), ...set]) this.#people.set(person.id, person);
    for (const id of del) this.#people.delete(id);
    if (v !== undefined) this.version = v;
    this.stale = stale;
    this.ended ||= ended !== undefined;
  }

  /** Closes the event stream. */
  async close(): Promise<void> {
    this.#abort.abort();
    await this.#reader?.cancel().catch(() => undefined); // over the network, it was aborted
    await this.done;
  }

  async #read(body: ReadableStream<Uint8Array> | null): Promise<void> {
    const reader = body?.getReader();
    this.#reader = reader;
    async function* chunks() {
      for (let result = await reader?.read(); result && !result.done; result = await reader?.read()) yield result.value;
    }
    try {
      for await (const { event, data } of readEvents(chunks())) {
        if (event === "presence") this.apply(JSON.parse(data[1] ?? ""));
      }
    } catch (error) {
      if (!this.#abort.signal.aborted && !/terminated|closed/.test(String(error))) throw error;
    }
  }
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
