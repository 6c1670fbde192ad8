/**
 * A viewer of the torture run for queries: a page with several queries, whose connections end repeatedly, and go to other processes.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { LiveHandle, QueryFrame } from "../../src/protocol/index.ts";
import { postInit } from "./presence-client.ts";
import { QueryClient } from "./query-client.ts";
import type { Row, TortureDatabase } from "./query-torture-database.ts";
import type { SeededRandom } from "./seeded-random.ts";

/** A kind of fault. */
export type QueryFaultKind =
  /** The last value is not that of the database. */
  | "behind"
  /** A value is older than the one before. */
  | "order"
  /** A value is none that the database has had. */
  | "value"
  /** A value of another user, or of a run that had no session. */
  | "session"
  /** A frame, or the response to a request, that no client should get. */
  | "response"
  /** Runs of one key overlapped in a process. */
  | "overlap";

/** A fault. */
export interface QueryFault {
  readonly kind: QueryFaultKind;
  readonly description: string;
}

/** A query with its arguments, which are boards. */
export interface QueryTarget {
  readonly name: "cards" | "totals" | "mine";
  readonly boards: readonly string[];
}

/** What a viewer shows, and how. */
export interface ViewerOptions {
  readonly name: string;
  /** `null` for a signed-out one. */
  readonly user: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly isPolling: boolean;
  /** The range of the time after which it ends a connection. */
  readonly connectionMs: readonly [min: number, max: number];
  readonly targets: readonly QueryTarget[];
  readonly servers: readonly string[];
  readonly database: TortureDatabase;
  readonly random: SeededRandom;
}

const RELOAD_PROBABILITY = 0.05;

/**
 * Responses of a process that starts, that stops, or whose bus is unreachable; and of one that has not received the request in time,
 * because the process of the test, which has all viewers, is under load.
 */
const EXPECTED_STATUSES = [408, 503];

/** Of runs. */
const EXPECTED_ERRORS = ["internal", "timeout"];

/** A viewer. */
export class QueryViewer {
  readonly faults: QueryFault[] = [];
  readonly counts = { values: 0, connections: 0, ended: 0, failed: 0, loads: 0 };
  readonly options: ViewerOptions;
  #client = new QueryClient(() => Promise.reject(new Error("The page is not loaded.")), []);
  /** By the id of the query. */
  readonly #targets = new Map<string, QueryTarget>();
  /** The versions of each value, by the id of the query. */
  readonly #versions = new Map<string, readonly number[]>();
  #server = "";
  #abort = new AbortController();
  #isSettling = false;
  #isStopped = false;

  constructor(options: ViewerOptions) {
    this.options = options;
  }

  /** Views until {@link stop}. */
  async view(): Promise<void> {
    const { random } = this.options;
    while (!this.#isStopped) {
      try {
        if (this.#targets.size === 0 || (!this.#isSettling && random.chance(RELOAD_PROBABILITY))) await this.#load();
        else await this.#connect();
      } catch (error) {
        this.counts.failed++;
        if (/another value/.test(String(error))) this.#addFault("response", String(error));
        await pause(random.integer(20, 100));
      }
    }
  }

  /** Keeps its connections open from now on, or ends them again. */
  settle(isSettling: boolean): void {
    this.#isSettling = isSettling;
  }

  /** Returns the queries whose value is not that of the database, or that have failed. */
  findOutdated(): readonly string[] {
    const { database, name } = this.options;
    if (this.#targets.size === 0) return [`${name} was not loaded`];
    return [...this.#client.queries].flatMap(([id, { error }]) => {
      const { name: query, boards } = this.#targets.get(id) ?? { name: "unknown", boards: [] };
      const current = boards.map((board) => database.versionOf(board)).join();
      const shown = this.#versions.get(id)?.join();
      if (shown === current && error === null) return [];
      return [`${name}: ${query} ${boards.join()} has ${shown}, the database ${current}, error ${error}`];
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#abort.abort();
    await this.#client.close().catch(() => undefined); // its failure was counted
  }

  async #load(): Promise<void> {
    const { targets, servers, headers, random } = this.options;
    const [server = ""] = random.sample(servers, 1);
    const args = { names: targets.map(({ name }) => name), boards: targets.map(({ boards }) => boards) };
    this.#server = server;
    const handles: LiveHandle[] = await this.#inTime(async () => {
      const response = await this.#send("/__web/rpc/load", postInit({ args }, headers));
      return (await response.json()).result;
    });
    this.counts.loads++;
    this.#client = new QueryClient((path, init) => this.#send(path, init), handles, headers);
    this.#targets.clear();
    this.#versions.clear(); // another page begins: it may have a value that is older
    for (const [index, { id, value }] of handles.entries()) {
      const target = targets[index];
      if (target) this.#targets.set(id, target);
      this.#check(id, value);
    }
    this.#client.onFrame = (id, frame) => this.#receive(id, frame);
  }

  async #connect(): Promise<void> {
    const { servers, random, isPolling } = this.options;
    const [server = ""] = random.sample(servers, 1);
    this.#server = server;
    this.counts.connections++;
    const client = this.#client;
    await this.#inTime(async (signal) => {
      if (isPolling) {
        await client.poll(random.chance(0.5) ? 0 : 1);
        return pause(random.integer(0, 100));
      }
      signal.addEventListener("abort", () => void client.close().catch(() => undefined));
      await client.open();
      await client.done;
    });
  }

  /** Aborts an operation after the time of a connection, unless it settles. */
  async #inTime<T>(operation: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { random, connectionMs } = this.options;
    const abort = new AbortController();
    this.#abort = abort;
    const timer = setTimeout(
      () => {
        if (this.#isSettling) return;
        this.counts.ended++;
        abort.abort();
      },
      random.integer(...connectionMs),
    );
    try {
      return await operation(abort.signal);
    } finally {
      clearTimeout(timer);
    }
  }

  /** @throws Error for another status than 200 */
  async #send(path: string, init: RequestInit): Promise<Response> {
    const response = await fetch(this.#server + path, { ...init, signal: init.signal ?? this.#abort.signal });
    if (response.ok) return response;
    const text = await response.text();
    // A page whose query fails is an error page.
    const isExpected =
      EXPECTED_STATUSES.includes(response.status) || (path.includes("load") && response.status === 500);
    if (!isExpected) this.#addFault("response", `${response.status} ${text}`);
    throw new Error(`Unexpected status ${response.status}.`);
  }

  #receive(id: string, frame: QueryFrame): void {
    const { error, v } = frame;
    // The database fails at times, and is slow while the process of the test is under load.
    if (frame.ended !== undefined || frame.stale !== undefined || (error && !EXPECTED_ERRORS.includes(error.code))) {
      this.#addFault("response", JSON.stringify(frame));
    }
    if (v !== undefined) this.#check(id, this.#client.queries.get(id)?.value);
  }

  #check(id: string, value: unknown): void {
    const target = this.#targets.get(id);
    if (!target) {
      this.#addFault("response", `a value of the query ${id}, which it has not requested`);
      return;
    }
    this.counts.values++;
    const versions = this.#versionsOf(value, target);
    const last = this.#versions.get(id) ?? [];
    if (versions.some((version, i) => version < (last[i] ?? 0))) {
      this.#addFault("order", `${target.name} ${target.boards.join()}: ${versions.join()} after ${last.join()}`);
    }
    this.#versions.set(id, versions);
  }

  /** Checks a value. @returns the versions of its boards */
  #versionsOf(value: unknown, { name, boards }: QueryTarget): readonly number[] {
    const { database, user } = this.options;
    if (name === "totals") return value as number[];
    if (name === "mine") {
      const { version, user: shown } = value as { version: number; user: string | null };
      const expected = version % 2 === 0 ? user : null;
      if (shown !== expected) this.#addFault("session", `version ${version} of ${shown} instead of ${expected}`);
      return [version];
    }
    const [board = ""] = boards;
    const version = (value as Row[])[0]?.version ?? 0;
    if (JSON.stringify(value) !== database.rowsOf(board, version)) {
      this.#addFault("value", `${board} was never ${JSON.stringify(value).slice(0, 200)}`);
    }
    return [version];
  }

  #addFault(kind: QueryFaultKind, what: string): void {
    this.faults.push({ kind, description: `${this.options.name}: ${what}` });
  }
}
