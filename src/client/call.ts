import type { Call, Stream } from "../protocol/index.ts";
import {
  type Arguments,
  abortable,
  callError,
  cancelledError,
  NDJSON_TYPE,
  openStream,
  readResult,
} from "../protocol/index.ts";
import type { CallSite } from "./call-site.ts";
import type { Connection } from "./connection.ts";

/** What is called, and from where. */
export interface CallInit {
  readonly name: string;
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
export class CallOrStream implements Call<unknown>, Stream<unknown> {
  readonly [Symbol.toStringTag] = "Promise";
  readonly #connection: Connection;
  readonly #name: string;
  readonly #resolveArguments: () => Promise<Arguments>;
  readonly #site: CallSite;
  readonly #abort = new AbortController();
  readonly #stream: Stream<unknown>;
  /** Whether it was awaited, read or cancelled. */
  #isUsed = false;
  #response: Promise<Response> | undefined;
  #result: Promise<unknown> | undefined;

  constructor(connection: Connection, { name, resolveArguments, site }: CallInit) {
    this.#connection = connection;
    this.#name = name;
    this.#resolveArguments = resolveArguments;
    this.#site = site;
    this.#stream = openStream(name, {}, () => this.#sendForStream(), this.#abort);
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
    return this.#connection.post(this.#name, args, signal);
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
