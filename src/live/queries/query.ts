import { rejectUnknownOptions } from "../../config/index.ts";
import { RPCError } from "../../errors.ts";
import { type RequestContext, requireClientContext } from "../../http/index.ts";
import {
  DEFAULT_QUERY_KEY,
  type LiveHandle,
  MAX_QUERY_TOKEN_CHARS,
  type NotSendable,
  type Sendable,
  type SerializedResult,
  type Signature,
} from "../../protocol/index.ts";
import { checkTimeLimit, isAllowed, requireSignature, unauthenticatedError } from "../../rpc/index.ts";
import { currentSession, hasSessionEnded, keysFor, type VerifiedSession } from "../../session/index.ts";
import { checkChannelName } from "../channel.ts";
import { QUERY_READER, type QueryDefinition } from "./definition.ts";
import { LiveQueries } from "./live-queries.ts";
import { argumentsText, parseArguments } from "./query-arguments.ts";
import type { QueryHub } from "./query-channels.ts";
import type { QueryHost } from "./query-run.ts";
import { queryId, signQuery } from "./query-token.ts";

/** The lifetime of a token, in seconds: 24 hours, as of a feed. */
const TTL_SECONDS = 24 * 60 * 60;

/** The maximum number of channels of a query with its arguments. */
const MAX_CHANNELS = 16;

/** The parameters of a function. Unlike `Parameters`, it takes any type, so that a query can be inferred from its function. */
type ParametersOf<F> = F extends (...args: infer A) => unknown ? A : never;

/** The options of {@link query}. */
export interface QueryOptions<F = (...args: never[]) => unknown> {
  /**
   * The channels whose messages make a value outdated: 1 to 16 names, or a function that returns them for the arguments of the
   * query. It runs when `live` is called, and only then.
   */
  readonly on: readonly string[] | ((...args: ParametersOf<NoInfer<F>>) => readonly string[]);
  /** Whether receivers must be signed in; otherwise `live` and calls fail with `unauthenticated`. */
  readonly auth_required?: boolean;
  /** The time limit of a run, in seconds, above 0. The default is the application's `rpc_timeout`, or 30. */
  readonly rpc_timeout?: number;
  /** The member that identifies the objects of a list, so that only changed ones are sent. The default is `id`. */
  readonly key?: string;
}

/**
 * `unknown` if the arguments of a query are the same after JSON, because its runs receive them from a token; otherwise a type that
 * the function does not match, so that the compiler's error contains the sentence of `Sendable`.
 */
type CheckedQuery<F> = F extends (...args: infer A) => infer R
  ? ([A] extends [SendableList<A>] ? unknown : (...args: SendableList<A>) => unknown) & CheckedValue<Awaited<R>>
  : // Also for a parameter without a type, from which TypeScript infers no function.
    NotSendable<"query() takes options and a function. Each parameter of the function needs a type, also one with a default: (limit: int = 20).">;

type SendableList<A extends readonly unknown[]> = { [K in keyof A]: Sendable<A[K]> };

type CheckedValue<R> = 0 extends 1 & R
  ? unknown
  : [Extract<R, Response | Blob | FormData>] extends [never]
    ? unknown
    : (
        ...args: never[]
      ) => NotSendable<"A Response, File, Blob or FormData cannot be the value of a query. Return data.">;

/** What a query has besides the call of its function. */
export interface LiveQuery<F> {
  /**
   * Resolves with the value for these arguments at this moment, and the permission to receive later ones: pass it to a view, which
   * calls `live(props.cards)` of `tsweb/browser`.
   *
   * Works where `channel` works: in a page, a server function, a form, a route. Any holder of the result can receive the
   * value, for 24 hours, and read the arguments and the channels in it. The query itself decides who may see it: it may read the
   * session, and runs again after each message.
   *
   * @param args the arguments of the query: plain JSON values
   * @throws RPCError `unauthenticated` if the client is signed out and the query has `auth_required`, or if its session has ended
   *   during the request
   * @throws TypeError for arguments that JSON does not represent exactly, and for invalid names of channels
   * @throws RangeError if the arguments and channels make the token longer than 1,024 characters, or the value is larger than 256 KiB
   * @throws RPCError when the bus does not respond within 2 seconds
   * @throws Error outside a request, and in a query
   * @throws what the query throws
   * @see docs/protocol.md 10.13
   */
  live(...args: ParametersOf<F>): Promise<LiveHandle<LiveValue<F>>>;
}

/** The value of a query as it arrives in the browser. */
type LiveValue<F> = F extends (...args: never[]) => infer R ? SerializedResult<Awaited<R>> : never;

/** The type of the query that {@link query} returns for a function. */
export type Query<F> = F & LiveQuery<F>;

const definitions = new WeakMap<object, QueryDefinition>();

/** By definition, so that only `query()` refers to the code that runs queries: a build without a query does not contain it. */
const openers = new WeakMap<QueryDefinition, (host: QueryHost, hub: () => QueryHub) => LiveQueries>();

/**
 * Opens the queries of an application. Returns `null` if it has none.
 *
 * @param hub returns the subscriptions of the application
 */
export function openQueries(host: QueryHost, hub: () => QueryHub): LiveQueries | null {
  const [definition] = host.queries.values();
  return (definition && openers.get(definition)?.(host, hub)) ?? null;
}

/** Returns the definition of a query; `undefined` for any other value. */
export function queryOf(value: unknown): QueryDefinition | undefined {
  return typeof value === "function" ? definitions.get(value) : undefined;
}

/**
 * Declares a live query: a function that reads, whose value pages show and keep current. The result must be exported as a const of
 * a `*.server.ts` module that is listed in `new App({ modules })`.
 *
 * A page passes `await cards.live(id)` to a view. When a message arrives on one of the channels of `on`, the pages get a value of
 * a run that began after that message: publish after the change is committed. One run is for all pages with the same arguments. It
 * happens outside every request: `before` does not run, and `request`, `publish` and cookies cannot be used. A query that reads
 * `session` runs for each sign-in.
 *
 * Browsers cannot call a query: it has no address. Called on the server, it is the function itself, in the request of its caller.
 *
 * @param options `on`: the channels whose messages make a value outdated
 * @param fn the function. Its parameters have types, also those with a default
 * @throws Error if the module was not compiled; the message describes how to compile it
 * @throws TypeError or RangeError for an invalid option
 * @see docs/protocol.md 10.13
 * @example export const cards = query({ on: (board) => [`board:${board}`] }, (board: string) => db.cards(board));
 */
export function query<F>(options: QueryOptions<F>, fn: F & CheckedQuery<F>): Query<F>;
export function query(...[options, fn, compiled]: readonly unknown[]): unknown {
  requireSignature(compiled, fn, "query()");
  const signature = compiled;
  checkOptions(options, signature);
  const run = fn as (...args: unknown[]) => unknown; // a function, checked above
  const definition = define(signature, options, run);
  const callable = (...args: unknown[]) => {
    if (!isAllowed(options)) throw unauthenticatedError();
    return run(...args);
  };
  const live = (...args: unknown[]) => issueHandle(definition, signature, args);
  definitions.set(callable, definition);
  openers.set(definition, (host, hub) => new LiveQueries(host, hub));
  return Object.assign(Object.defineProperty(callable, "name", { value: signature.name }), { live });
}

function define(
  signature: Signature,
  { on, auth_required = false, rpc_timeout, key = DEFAULT_QUERY_KEY }: QueryOptions,
  fn: (...args: unknown[]) => unknown,
): QueryDefinition {
  const { name, file, line, hash = "" } = signature;
  const channelsFor = on as readonly string[] | ((...args: readonly unknown[]) => unknown); // called with arguments of `fn`
  return {
    name,
    file,
    line,
    hash,
    authRequired: auth_required,
    timeLimit: rpc_timeout,
    key,
    parseArguments: (text) => parseArguments(signature, text),
    channelsOf: (args) =>
      checkChannels(typeof channelsFor === "function" ? channelsFor(...args) : channelsFor, `on of ${name}`),
    run: (args) => fn(...args),
  };
}

const OPTIONS: Readonly<Record<keyof QueryOptions, true>> = {
  on: true,
  auth_required: true,
  rpc_timeout: true,
  key: true,
};

function checkOptions(options: unknown, { name, file }: Signature): asserts options is QueryOptions {
  const location = `query() of ${name} in ${file}`;
  rejectUnknownOptions(options, OPTIONS, location);
  const { on, auth_required, rpc_timeout, key } = options as Partial<Record<keyof QueryOptions, unknown>>;
  if (typeof on !== "function") checkChannels(on, `${location}: on`);
  if (auth_required !== undefined && typeof auth_required !== "boolean") {
    throw new TypeError(`${location}: auth_required is ${String(auth_required)}. It must be true or false.`);
  }
  checkTimeLimit(rpc_timeout, location);
  if (key === undefined || (typeof key === "string" && key !== "")) return;
  throw new TypeError(`${location}: key is ${JSON.stringify(key)}. It must be the name of a member, such as "id".`);
}

/** Returns the names of channels, sorted by their UTF-16 code units, each once. */
function checkChannels(names: unknown, caller: string): readonly string[] {
  if (!Array.isArray(names)) {
    throw new TypeError(
      `${caller} must be a list of channels, or a function that returns one, without a promise: (board) => [\`board:\${board}\`]. ` +
        `Received: ${names === null ? "null" : `a value of type ${typeof names}`}.`,
    );
  }
  for (const name of names) checkChannelName(name, caller);
  const channels = [...new Set<string>(names)].sort();
  if (channels.length >= 1 && channels.length <= MAX_CHANNELS) return channels;
  throw new RangeError(
    `${caller} names ${channels.length} channels; it must be 1 to ${MAX_CHANNELS}. Publish to one channel for what changes together.`,
  );
}

/** Returns what a page passes to a view. */
async function issueHandle(
  definition: QueryDefinition,
  signature: Signature,
  args: readonly unknown[],
): Promise<LiveHandle> {
  const { name, hash, key } = definition;
  const caller = `${name}.live()`;
  const context = requireClientContext(caller);
  const session = receiverOf(context, definition);
  const text = argumentsText(signature, args);
  const values = definition.parseArguments(text);
  const channels = definition.channelsOf(values);
  const content = { name, hash, channels, argsText: text };
  const expiresAt = Math.floor(Date.now() / 1000) + TTL_SECONDS;
  const token = signQuery({ ...content, sid: session?.sid ?? null, expiresAt }, keysFor(context.config, "query"));
  checkTokenSize(token, caller);
  const id = queryId(content);
  const reader = context.get(QUERY_READER);
  if (!reader)
    throw new Error(
      `${caller} was called in a request of no application, or of one that lists no query in its modules.`,
    );
  const { json, version } = await reader.read(
    { definition, args: values, channels, id },
    session,
    context.inbound.signal,
  );
  return { query: token, id, value: JSON.parse(json), v: version, ...(key === DEFAULT_QUERY_KEY ? {} : { key }) };
}

/** Returns the session of the client that receives a handle; `null` for a signed-out client, whose handle any client may use. */
function receiverOf(context: RequestContext, { authRequired }: QueryDefinition): VerifiedSession | null {
  if (hasSessionEnded(context)) throw new RPCError("unauthenticated", "You were signed out. Please sign in again.");
  const session = currentSession(context);
  if (authRequired && session === null) throw unauthenticatedError();
  return session;
}

function checkTokenSize(token: string, caller: string): void {
  if (token.length <= MAX_QUERY_TOKEN_CHARS) return;
  throw new RangeError(
    `${caller}: the token would have ${token.length} characters; the maximum is ${MAX_QUERY_TOKEN_CHARS}. It contains the arguments ` +
      "and the names of the channels. Pass ids in place of objects, and load the objects in the query.",
  );
}
