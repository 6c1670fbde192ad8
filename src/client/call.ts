import type { Stream } from "../protocol/index.ts";
import { type Arguments, abortable, callError, openStream, readResult } from "../protocol/index.ts";
import type { Connection } from "./connection.ts";

/** Gives a call's arguments their names. */
export type ResolveArguments = () => Promise<Arguments>;

/**
 * A call of a function that may give one result or many: at run time nothing tells until it is
 * asked. It is what its types say it is: awaited, a promise of the result; read with `for await`,
 * a stream of which nothing is sent before the first read.
 *
 * A call that is left alone is sent all the same, as any function's would: `void api.log("x")`.
 * One that turns out to be a stream is left for its reader. A stream that is awaited, as
 * when an async function returns it, is sent then, and is what the promise resolves with.
 */
export class Call implements PromiseLike<unknown>, Stream<unknown> {
  readonly #connection: Connection;
  readonly #name: string;
  readonly #naming: ResolveArguments;
  readonly #abort = new AbortController();
  readonly #stream: Stream<unknown>;
  #isAsked = false;
  #response: Promise<Response> | undefined;
  #result: Promise<unknown> | undefined;

  constructor(connection: Connection, name: string, naming: ResolveArguments) {
    this.#connection = connection;
    this.#name = name;
    this.#naming = naming;
    this.#stream = openStream(name, {}, () => this.#sendForStream(), this.#abort);
    void this.#sendUnasked();
  }

  // biome-ignore lint/suspicious/noThenProperty: it is a promise to whoever awaits it
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

  cancel(): void {
    this.#isAsked = true;
    this.#stream.cancel();
  }

  [Symbol.asyncIterator](): AsyncIterator<unknown> {
    this.#isAsked = true;
    return this.#stream[Symbol.asyncIterator]();
  }

  async #sendUnasked(): Promise<void> {
    // Whoever awaits it has asked by the second turn: an await asks in the turn after its own.
    await null;
    await null;
    if (this.#isAsked) return;
    const kind = await this.#connection.signatureOf(this.#name).catch((error: unknown) => ({ error }));
    if (this.#isAsked) return;
    // Nobody may be there to hear of it: then it is as any promise's, and the platform tells.
    if ("error" in kind) this.#result = Promise.reject(kind.error);
    else if (!kind.stream) void this.#settle();
  }

  #settle(): Promise<unknown> {
    this.#isAsked = true;
    this.#result ??= this.#finish();
    return this.#result;
  }

  async #finish(): Promise<unknown> {
    const name = this.#name;
    const { timeout } = this.#connection;
    const timer = timeout === undefined ? undefined : setTimeout(() => this.#abort.abort(TIMEOUT), timeout * 1000);
    try {
      const response = await this.#send();
      return isStream(response) ? this.#stream : await readResult(name, response);
    } catch (error) {
      if (this.#abort.signal.reason === TIMEOUT) throw callError(`${name}: no answer in time`, error, "timeout");
      throw this.#connection.isStopped ? callError(`${name}: stopped by the client's signal`, error) : error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Sends it once, whoever asks. */
  #send(): Promise<Response> {
    this.#response ??= this.#post();
    return this.#response;
  }

  async #post(): Promise<Response> {
    const { signal } = this.#abort;
    const args = await abortable(this.#naming(), signal);
    return this.#connection.post(this.#name, args, signal);
  }

  async #sendForStream(): Promise<Response> {
    const response = await this.#send();
    if (!response.ok || isStream(response)) return response;
    throw callError(`${this.#name}: gives one result, and no stream: await it`, undefined);
  }
}

const TIMEOUT = new DOMException("The client's timeout is over.", "TimeoutError");

function isStream({ headers }: Response): boolean {
  return /^application\/x-ndjson\s*(;|$)/i.test(headers.get("content-type") ?? "");
}
