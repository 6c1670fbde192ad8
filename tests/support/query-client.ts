/** A page with live queries, without a browser: opens event streams with its handles, and applies the frames as a browser does. */
import type { LiveHandle, QueryFrame } from "../../src/protocol/index.ts";
import { readEvents } from "./event-stream.ts";
import { postInit, type Send } from "./presence-client.ts";

/** A query in the page. */
export interface ShownQuery {
  readonly token: string;
  /** `undefined` after it was taken away. */
  value: unknown;
  version: string | undefined;
  error: string | null;
  /** All frames, in order. */
  readonly frames: QueryFrame[];
}

/** A page with live queries. */
export class QueryClient {
  /** By id. */
  readonly queries = new Map<string, ShownQuery>();
  readonly #send: Send;
  readonly #headers: Readonly<Record<string, string>>;
  #abort = new AbortController();
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  /** Called with each frame, after it was applied. */
  onFrame: ((id: string, frame: QueryFrame) => void) | undefined;
  /** Settles when the event stream has ended. */
  done: Promise<void> = Promise.resolve();

  constructor(send: Send, handles: readonly LiveHandle[], headers: Readonly<Record<string, string>> = {}) {
    this.#send = send;
    this.#headers = headers;
    for (const { id, query: token, value, v: version } of handles) {
      this.queries.set(id, { token, value, version, error: null, frames: [] });
    }
  }

  /** The first query. */
  get first(): ShownQuery {
    const [query] = this.queries.values();
    if (!query) throw new Error("The page has no query.");
    return query;
  }

  /** What a request contains. */
  get body(): { readonly queries: readonly string[] } {
    return {
      queries: [...this.queries.values()].map(({ token, version, error }) =>
        version && !error ? `${token}~${version}` : token,
      ),
    };
  }

  /** Opens an event stream, and closes the one that is open. */
  async open(): Promise<Response> {
    await this.close();
    this.#abort = new AbortController();
    const response = await this.#send("/__web/live", postInit(this.body, this.#headers, this.#abort.signal));
    if (response.ok) this.done = this.#read(response.body);
    return response;
  }

  /** Polls. @returns whether there is more */
  async poll(wait = 0): Promise<boolean> {
    const response = await this.#send("/__web/poll", postInit({ ...this.body, wait }, this.#headers));
    const { query, more } = await response.json();
    for (const [id, frame] of query) this.#apply(id, frame);
    return more === true;
  }

  async close(): Promise<void> {
    this.#abort.abort();
    await this.#reader?.cancel().catch(() => undefined); // over the network, it was aborted
    await this.done;
  }

  #apply(id: string, frame: QueryFrame): void {
    const query = this.queries.get(id);
    if (!query) throw new Error(`The page has no query ${id}.`);
    query.frames.push(frame);
    this.#applyTo(query, frame);
    this.onFrame?.(id, frame);
  }

  #applyTo(query: ShownQuery, frame: QueryFrame): void {
    const { error, v, patch, base } = frame;
    if (error) {
      query.error = error.code;
      if (error.code !== "forbidden" && error.code !== "unauthenticated") return;
      query.value = undefined;
      query.version = undefined;
    }
    if (v === undefined) return;
    const current = query.version?.slice(0, 12);
    if (patch) {
      if (current !== base) throw new Error("The patch is of another value.");
      const rows = query.value as readonly unknown[];
      query.value = patch.flatMap((part) => (Array.isArray(part) ? rows.slice(...part) : [part]));
    } else if ("value" in frame) query.value = frame.value;
    else if (current !== v.slice(0, 12)) throw new Error("The page has another value.");
    query.version = v;
    query.error = null;
  }

  async #read(body: ReadableStream<Uint8Array> | null): Promise<void> {
    const reader = body?.getReader();
    this.#reader = reader;
    const { signal } = this.#abort;
    async function* chunks() {
      for (let result = await reader?.read(); result && !result.done; result = await reader?.read()) yield result.value;
    }
    try {
      for await (const { event, data } of readEvents(chunks())) {
        if (event === "query") this.#apply(data[0] ?? "", JSON.parse(data[1] ?? ""));
      }
    } catch (error) {
      if (!signal.aborted && !/terminated|closed/.test(String(error))) throw error;
    }
  }
}
