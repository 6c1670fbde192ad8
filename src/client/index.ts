/**
 * The entry point `tsweb/client`: calls server functions over HTTP from scripts, tests and other services.
 */

import {
  type Arguments,
  abortable,
  type Call,
  type CallOptions,
  callError,
  cancelledError,
  checkArgumentCount,
  checkArguments,
  NDJSON_TYPE,
  openStream,
  readResult,
  type Stream,
  toNamedArguments,
} from "../protocol/index.ts";
import { type ClientOptions, Connection } from "./connection.ts";

export { type ErrorCode, RPCError } from "../errors.ts";
export type { BearerSource, Call, Serialized, Stream } from "../protocol/index.ts";
export type { ClientOptions, Fetch } from "./connection.ts";

/** A server function as a type: it can be called, also with named arguments. */
type Callable = ((...args: never[]) => unknown) & { named(args: never): unknown };

/** The server functions of a module, with the same arguments and results. Each call is sent over HTTP. */
export type Client<M> = { readonly [K in keyof M as M[K] extends Callable ? K : never]: M[K] };

/**
 * Returns an object with the server functions of a module that another process serves, for scripts, tests and other
 * services. Only the types of the module are used, so it is not loaded. Nothing is sent before the first call.
 *
 * A call whose function redirects resolves with `null`: a client opens no pages. The URL is in the header `X-Redirect` of
 * the response, which `options.fetch` can read.
 *
 * A client keeps the cookies of responses, so that calls after a sign-in are signed in. Calls reject with an `RPCError`
 * that has the code, message and details of the server's error. A response of a proxy becomes an error with the code of
 * its status. If the server is unreachable, the code is `internal`, and `cause` is the error of `fetch`. A call that
 * exceeds `options.timeout` rejects with `timeout`.
 *
 * Parameter names are part of the types and do not exist at run time, but calls are sent with them. Therefore the first
 * positional call of a function requests its parameter names from the server. `.named` does not need this request.
 *
 * Arguments that would not arrive as they are, such as a `Set`, reject the call with a `TypeError`, and nothing is sent.
 *
 * @param base_url the address of the application, its base path included: `https://shop.example/base`
 * @param options headers, a bearer token, an initial cookie, a signal, a timeout in seconds
 * @throws TypeError for an invalid address, header, token or timeout
 * @see docs/protocol.md 3.4 and 3.5
 * @example
 * const accounts = client<typeof import("./accounts.server.ts")>("http://localhost:3000");
 * await accounts.login("ada@example.com", "correct horse");
 * for await (const n of accounts.countdown(3)) console.log(n);
 */
export function client<M>(base_url: string | URL, options: ClientOptions = {}): Client<M> {
  const connection = new Connection(base_url, options);
  const functions = new Map<string, RemoteFunction>();
  const get = (_: object, key: string | symbol): RemoteFunction | undefined => {
    if (typeof key === "symbol" || RESERVED_NAMES.has(key)) return undefined;
    const remote = functions.get(key) ?? createRemoteFunction(connection, key);
    functions.set(key, remote);
    return remote;
  };
  // Only the types contain the names of the functions.
  return new Proxy(Object.freeze(Object.create(null)), { get }) as Client<M>;
}

/** Names that the language reads: with them, `await` or `JSON.stringify` of a client would send a call. */
const RESERVED_NAMES: ReadonlySet<string> = new Set(["then", "toJSON"]);

interface RemoteFunction {
  (...values: unknown[]): CallOrStream;
  named(args?: Arguments, options?: CallOptions): CallOrStream;
}

function createRemoteFunction(connection: Connection, name: string): RemoteFunction {
  const checked = (args: Arguments): Arguments => {
    checkArguments(name, args, true);
    return args;
  };
  const nameArguments = async (values: readonly unknown[]): Promise<Arguments> => {
    if (values.length === 0) return {}; // no names needed
    const { params } = await connection.signatureOf(name);
    checkArgumentCount(name, params, values);
    return checked(toNamedArguments(params, values));
  };
  const call = (...values: unknown[]) =>
    new CallOrStream(connection, { name, resolveArguments: () => nameArguments(values), site: new CallSite(call) });
  const named = (args: Arguments = {}, { key }: CallOptions = {}) =>
    new CallOrStream(connection, { name, key, resolveArguments: async () => checked(args), site: new CallSite(named) });
  return Object.assign(call, { named });
}

/** What is called, and from where. */
interface CallInit {
  readonly name: string;
  /** The key of a call of an idempotent function. */
  readonly key?: string | undefined;
  /** Resolves with the arguments of the call by name. Positional arguments need a request for the names first. */
  readonly resolveArguments: () => Promise<Arguments>;
  readonly site: CallSite;
}

/**
 * A call of a function that returns either one result or a stream: at run time, only the server's response shows which.
 * The caller uses it according to its type: with `await`, as a promise of the result; with `for await`, as a stream, for
 * which nothing is sent before the first read.
 *
 * A call that is neither awaited nor read is sent too, like any other function call: `void api.log("x")`. A stream that
 * is neither awaited nor read is not. A stream that is awaited, as when an async function returns it, is sent, and the
 * promise resolves with it.
 */
class CallOrStream implements Call<unknown>, Stream<unknown> {
  readonly [Symbol.toStringTag] = "Promise";
  readonly #connection: Connection;
  readonly #name: string;
  readonly #key: string | undefined;
  readonly #resolveArguments: () => Promise<Arguments>;
  readonly #site: CallSite;
  readonly #abort = new AbortController();
  readonly #stream: Stream<unknown>;
  /** Whether it was awaited, read or cancelled. */
  #isUsed = false;
  #response: Promise<Response> | undefined;
  #result: Promise<unknown> | undefined;

  constructor(connection: Connection, { name, key, resolveArguments, site }: CallInit) {
    this.#connection = connection;
    this.#name = name;
    this.#key = key;
    this.#resolveArguments = resolveArguments;
    this.#site = site;
    this.#stream = openStream(name, {}, () => this.#sendForStream(), undefined, this.#abort);
    void this.#sendIfUnused();
  }

  // biome-ignore lint/suspicious/noThenProperty: a call can be awaited
  then<T = unknown, E = never>(
    onResult?: ((result: unknown) => T | PromiseLike<T>) | null,
    onError?: ((error: unknown) => E | PromiseLike<E>) | null,
  ): Promise<T | E> {
    return this.#settle().then(onResult, onError);
  }

  catch<E = never>(onError?: ((error: unknown) => E | PromiseLike<E>) | null): Promise<unknown> {
    return this.#settle().catch(onError);
  }

  finally(onEnd?: (() => void) | null): Promise<unknown> {
    return this.#settle().finally(onEnd);
  }

  /** Cancels the call: awaiting it rejects, and the loop over its stream ends. It can be passed on as a function. */
  readonly cancel = (): void => {
    this.#isUsed = true;
    this.#abort.abort(cancelledError(this.#name));
    this.#result?.catch(() => undefined); // the caller does not want the result, so the rejection need not be handled
  };

  [Symbol.asyncIterator](): AsyncIterator<unknown> {
    this.#isUsed = true;
    return this.#stream[Symbol.asyncIterator]();
  }

  async #sendIfUnused(): Promise<void> {
    // `await call` calls then() in a microtask of its own, so two microtasks must pass before the call counts as unused.
    await null;
    await null;
    if (this.#isUsed) return;
    const outcome = await this.#connection.signatureOf(this.#name).catch((error: unknown) => ({ error }));
    if (this.#isUsed) return;
    // Without a handler, this rejection is reported like that of any other promise.
    if ("error" in outcome) {
      this.#site.addTo(outcome.error);
      this.#result = Promise.reject(outcome.error);
    } else if (!outcome.stream) void this.#settle();
  }

  #settle(): Promise<unknown> {
    this.#isUsed = true;
    this.#result ??= this.#finish();
    return this.#result;
  }

  async #finish(): Promise<unknown> {
    const name = this.#name;
    const { timeout } = this.#connection;
    const { signal } = this.#abort;
    const timer = timeout === undefined ? undefined : setTimeout(() => this.#abort.abort(TIMEOUT), timeout * 1000);
    try {
      const response = await abortable(this.#send(), signal);
      const result = isStream(response) ? this.#stream : await abortable(readResult(name, response), signal);
      signal.throwIfAborted();
      return result;
    } catch (cause) {
      const error = this.#describe(cause);
      this.#site.addTo(error);
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Returns the error with which the call rejects. */
  #describe(error: unknown): unknown {
    const { reason, aborted } = this.#abort.signal;
    if (reason === TIMEOUT) {
      return callError(`${this.#name}: no response within ${this.#connection.timeout} s`, error, "timeout");
    }
    if (aborted) return reason; // cancelled
    return this.#connection.isStopped ? callError(`${this.#name}: aborted by the client's signal`, error) : error;
  }

  /** Sends the call, once. */
  #send(): Promise<Response> {
    this.#response ??= this.#post();
    return this.#response;
  }

  async #post(): Promise<Response> {
    const { signal } = this.#abort;
    signal.throwIfAborted();
    const args = await abortable(this.#resolveArguments(), signal);
    return this.#connection.post(this.#name, args, signal, this.#key);
  }

  async #sendForStream(): Promise<Response> {
    const response = await this.#send();
    if (!response.ok || isStream(response)) return response;
    throw callError(`${this.#name}: returns one result, not a stream. Use await instead of for await`, undefined);
  }
}

const TIMEOUT = new DOMException("The client's timeout has expired.", "TimeoutError");

const IS_NDJSON = new RegExp(`^${NDJSON_TYPE}\\s*(;|$)`, "i");

function isStream({ headers }: Response): boolean {
  return IS_NDJSON.test(headers.get("content-type") ?? "");
}

/** The frames of a stack at which a call was made, from the caller of the client's function on. */
class CallSite {
  readonly stack: string = "";

  /** @param callee the function that the caller has called: its own frame is left out */
  constructor(callee: (...args: never[]) => unknown) {
    // Only collects the frames: the text is made when `stack` is read. Other engines than V8 may not have it.
    Error.captureStackTrace?.(this, callee);
  }

  /** Adds the frames to the stack of an error, once: its own frames end in the code that has received the response. */
  addTo(error: unknown): void {
    if (!(error instanceof Error) || error.stack === undefined) return;
    const own = error.stack;
    const frames = this.stack.split("\n").filter((line) => /^\s+at /.test(line) && !own.includes(line.trim()));
    if (frames.length > 0) error.stack = [own, ...frames].join("\n");
  }
}
