/** The runs of queries, outside every request: their values are for all who see the same. */
import type { Config } from "../../config/index.ts";
import { RPCError, ValueError } from "../../errors.ts";
import {
  type ContextValues,
  FetchInboundRequest,
  type QueryRun,
  Redirect,
  RequestContext,
  RequestError,
  requestIds,
  runDetached,
} from "../../http/index.ts";
import type { AppLog } from "../../logging/index.ts";
import { MAX_QUERY_VALUE_BYTES, toJson } from "../../protocol/index.ts";
import { withTimeLimit } from "../../rpc/index.ts";
import { SESSION, type VerifiedSession } from "../../session/index.ts";
import type { QueryCall, QueryDefinition } from "./definition.ts";

/**
 * The time limit of a run, in seconds, if neither the query nor the application has one: nobody waits for a run outside requests, so
 * one that hangs would keep all values of its query from changing.
 */
const DEFAULT_LIMIT_SECONDS = 30;

/** What the queries of an application use of it. */
export interface QueryHost {
  /** The queries of the application, by name. */
  readonly queries: ReadonlyMap<string, QueryDefinition>;
  readonly config: Config;
  readonly log: AppLog;
  /** The id of the server's build; `null` in an application that was not built. */
  readonly build: string | null;
  /** The time limit of runs in seconds, unless a query has its own; `undefined` for 30 seconds. */
  readonly rpc_timeout: number | undefined;
  /** Returns what code in a run finds of the application, as in a request: its bus, its rate store. */
  provided(): ContextValues;
}

/** What a run led to. */
export type RunOutcome =
  | { readonly kind: "value"; readonly json: string }
  /** Of a shared run only: it has read the session. Discard it, and run the query for each sign-in. */
  | { readonly kind: "session" }
  | RunFailure;

/** A run that failed, or exceeded its time limit. */
export interface RunFailure {
  readonly kind: "failed";
  /** What was thrown. */
  readonly cause: unknown;
  /** After the time limit: resolves when the function has ended. It never rejects. */
  readonly unfinished?: Promise<void>;
}

/**
 * Runs a query. Does not reject.
 *
 * @param session that of the receivers of one sign-in, which is valid now, and `null` for signed-out ones; `undefined` for receivers
 *   of all sign-ins
 */
export async function runQuery(
  call: QueryCall,
  host: QueryHost,
  session: VerifiedSession | null | undefined,
): Promise<RunOutcome> {
  const { definition } = call;
  const queryRun: QueryRun = { name: definition.name, isShared: session === undefined, hasReadSession: false };
  const context = runContext(host, queryRun);
  if (session !== undefined) context.set(SESSION, session);
  let running: Promise<string> | undefined;
  const start = () => {
    running = readValue(call);
    return running;
  };
  let outcome: RunOutcome;
  try {
    const seconds = definition.timeLimit ?? host.rpc_timeout ?? DEFAULT_LIMIT_SECONDS;
    outcome = { kind: "value", json: await runDetached(context, () => withTimeLimit(context, seconds, start)) };
  } catch (cause) {
    const isTimeout = cause instanceof RequestError && cause.code === "timeout";
    outcome = { kind: "failed", cause, ...(isTimeout && running ? { unfinished: ended(running) } : {}) };
  }
  // Decided last: a query may have caught the error, and `toJson` calls methods of the value, which may read the session too.
  return queryRun.hasReadSession ? { kind: "session" } : outcome;
}

/**
 * Returns the context of a run. It belongs to no request: nothing in it is of the client for whose page the first run happens.
 */
function runContext({ config, provided }: QueryHost, queryRun: QueryRun): RequestContext {
  noRequest ??= new FetchInboundRequest(new Request("http://query.invalid/"));
  const ids = requestIds(() => null);
  return new RequestContext({ inbound: noRequest, ...ids, address: "", config, provided: provided(), queryRun });
}

/** The request of all runs, which nothing can read. It is created by the first run, and lives as long as the process. */
let noRequest: FetchInboundRequest | undefined;

/** Calls the function, and returns its result as JSON. */
async function readValue({ definition, args }: QueryCall): Promise<string> {
  const subject = describe(definition);
  const value = await definition.run(args);
  if (value instanceof Redirect) throw value;
  const json = toJson(value, { subject });
  const bytes = Buffer.byteLength(json);
  if (bytes <= MAX_QUERY_VALUE_BYTES) return json;
  throw new RangeError(
    `The value of the query ${subject} has ${bytes} bytes of JSON; the maximum is ${MAX_QUERY_VALUE_BYTES}. Return ` +
      "fewer rows or members: what one view shows, such as one page of a list.",
  );
}

/** Resolves when a function has ended, with or without an error. */
function ended(running: Promise<unknown>): Promise<void> {
  return running.then(
    () => undefined,
    () => undefined,
  );
}

/**
 * Returns the error that receivers get for a run that has failed. What the query has not thrown on purpose is logged, and becomes
 * `internal` with a general message.
 */
export function receiverError(cause: unknown, { definition }: QueryCall, { log }: QueryHost): RPCError {
  const operation = `The query ${describe(definition)}`;
  if (cause instanceof RPCError || cause instanceof ValueError) {
    const error = cause instanceof RPCError ? cause : new RPCError("validation_error", cause.message);
    log.info({ code: error.code, reason: cause.message }, `${operation} threw an expected error`);
    return error;
  }
  const err =
    cause instanceof Redirect ? new TypeError(`${definition.name} has redirected, which only a page can do.`) : cause;
  log.error({ err }, `${operation} failed`);
  return new RPCError("internal", "Something went wrong on the server.");
}

/** Returns the name of a query, and where it is declared: `cards (src/board.server.ts:12)`. */
function describe({ name, file, line }: QueryDefinition): string {
  return `${name} (${file}:${line})`;
}
