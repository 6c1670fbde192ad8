import { testConfig } from "#test/request-context";
import type { Bus } from "../../src/backends/index.ts";
import type { ErrorCode } from "../../src/errors.ts";
import { RPCError } from "../../src/errors.ts";
import { ContextValues } from "../../src/http/index.ts";
import type { QueryDefinition } from "../../src/live/queries/definition.ts";
import { QueryConnection, type QueryInput } from "../../src/live/queries/query-connection.ts";
import { RunSlots, ValueCache } from "../../src/live/queries/query-limits.ts";
import type { RunOutcome } from "../../src/live/queries/query-run.ts";
import { QueryRuns } from "../../src/live/queries/query-runs.ts";
import type { QueryRunner } from "../../src/live/queries/query-series.ts";
import { SubscriptionHub } from "../../src/live/subscription-hub.ts";
import type { AppLog } from "../../src/logging/index.ts";
import type { QueryFrame } from "../../src/protocol/index.ts";
import { sessionTag, type VerifiedSession } from "../../src/session/index.ts";

/** The options of {@link createQueryProcess}. */
export interface QueryProcessOptions {
  /** The function of every query. */
  readonly run: QueryRunner["run"];
  readonly log: AppLog;
  readonly maxRuns?: number;
  readonly maxCacheBytes?: number;
  readonly authRequired?: boolean;
}

/** The queries of one process of an application. */
export interface QueryProcess {
  readonly hub: SubscriptionHub;
  readonly runs: QueryRuns;
  readonly slots: RunSlots;
  readonly cache: ValueCache;
  readonly definition: QueryDefinition;
  close(): void;
}

/** Creates a process with one query, `cards`, on a bus. */
export function createQueryProcess(bus: Bus, options: QueryProcessOptions): QueryProcess {
  const hub = new SubscriptionHub(bus, options.log);
  const definition: QueryDefinition = {
    ...{ name: "cards", hash: "abcdef", file: "src/board.server.ts", line: 1, key: "id", timeLimit: undefined },
    authRequired: options.authRequired ?? false,
    channelsOf: ([board]) => [`board:${board}`],
    parseArguments: (text: string) => JSON.parse(text),
    run: () => undefined,
  };
  const slots = new RunSlots(options.maxRuns ?? 16);
  const cache = new ValueCache(options.maxCacheBytes ?? 64 * 1024 * 1024);
  const host = {
    ...{ queries: new Map([["cards", definition]]), config: testConfig(), log: options.log, build: "b1" },
    ...{ rpc_timeout: undefined, provided: () => new ContextValues() },
  };
  const describe = (cause: unknown) => (cause instanceof RPCError ? cause : new RPCError("internal", "It has failed."));
  const runner = { run: options.run, describe };
  const runs = new QueryRuns({
    host,
    hub: () => hub,
    runner,
    slots,
    cache,
  });
  const close = () => {
    runs.close();
    hub.close();
  };
  return { hub, runs, slots, cache, definition, close };
}

/** Returns a run that has failed. */
export function failure(code: ErrorCode = "internal", message = "A failure"): RunOutcome {
  return { kind: "failed", cause: new RPCError(code, message) };
}

/** Returns a session of a user. Nothing checks it. */
export function sessionOf(user: string, sid = `sid of ${user}`): VerifiedSession {
  return { sid, user: { sub: user } } as unknown as VerifiedSession; // the members that queries use
}

/** A page with queries, which applies frames as the browser does. */
export class QueryPage {
  /** The values by board; undefined if a value was taken away. */
  readonly values = new Map<string, unknown>();
  readonly versions = new Map<string, string>();
  readonly errors = new Map<string, ErrorCode | null>();
  readonly frames: QueryFrame[] = [];
  readonly ended: string[] = [];
  /** Whether it reads what it is sent. */
  isReading = true;
  /** Called with each value. */
  onValue: ((board: string, value: unknown) => void) | undefined;
  readonly boards: readonly string[];
  readonly session: VerifiedSession | null;
  isValid = true;
  #connection: QueryConnection | null = null;

  constructor(boards: readonly string[], session: VerifiedSession | null = null) {
    this.boards = boards;
    this.session = session;
  }

  get connection(): QueryConnection | null {
    return this.#connection;
  }

  /** Connects to a process, with the versions that it has; without that of a query that has failed. */
  connect(process: QueryProcess, { expiresAt = Number.POSITIVE_INFINITY, client = "a:1" } = {}): void {
    this.disconnect();
    const { hash } = process.definition;
    const requests = this.boards.map((board) => {
      const query = {
        ...{ name: "cards", hash, channels: [`board:${board}`], argsText: JSON.stringify([board]), tag: null },
        ...{ expiresAt, expired: false },
      };
      const version = this.errors.get(board) ? undefined : this.versions.get(board);
      return { token: `token of ${board}`, id: idOf(board), query, version };
    });
    const { session } = this;
    const input: QueryInput = {
      runs: process.runs,
      requests,
      client: { key: client, session, tag: session ? sessionTag(session.sid) : null, isValid: () => this.isValid },
    };
    const connection = new QueryConnection(input, () => this.read());
    this.#connection = connection;
    this.read();
    void this.#check(connection);
  }

  /** Shows a value that was loaded with the page. */
  show(board: string, value: unknown, version: string): void {
    this.values.set(board, value);
    this.versions.set(board, version);
    this.errors.set(board, null);
    this.onValue?.(board, value);
  }

  disconnect(): void {
    this.#connection?.close();
    this.#connection = null;
  }

  /** Reads what there is, if it reads. */
  read(): void {
    while (this.isReading && this.#connection) {
      const frame = this.#connection.take();
      if (!frame) return;
      this.#apply(boardOf(frame.id), JSON.parse(frame.json));
    }
  }

  async #check(connection: QueryConnection): Promise<void> {
    while (this.#connection === connection) {
      try {
        return await connection.check({ askBus: false });
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 1_000));
      }
    }
  }

  #apply(board: string, frame: QueryFrame): void {
    this.frames.push(frame);
    if (frame.ended !== undefined) this.ended.push(frame.ended);
    if (frame.error) {
      this.errors.set(board, frame.error.code);
      if (frame.error.code !== "forbidden" && frame.error.code !== "unauthenticated") return;
      this.values.set(board, undefined);
      this.versions.delete(board);
    }
    if (frame.v === undefined) return;
    this.errors.set(board, null);
    const { patch } = frame;
    if (patch) {
      if (this.versions.get(board)?.slice(0, 12) !== frame.base) throw new Error("The patch is of another value.");
      const base = this.values.get(board) as readonly unknown[];
      this.values.set(
        board,
        patch.flatMap((part) => (Array.isArray(part) ? base.slice(...part) : [part])),
      );
    } else if ("value" in frame) this.values.set(board, frame.value);
    else if (this.versions.get(board)?.slice(0, 12) !== frame.v.slice(0, 12)) throw new Error("The value is another.");
    this.versions.set(board, frame.v);
    this.onValue?.(board, this.values.get(board));
  }
}

const idOf = (board: string) => `id ${board}`;
const boardOf = (id: string) => id.slice(3);
