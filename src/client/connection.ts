import { CookieJar } from "../cookie-jar.ts";
import { RPCError } from "../errors.ts";
import {
  type Arguments,
  authorizationOf,
  type BearerSource,
  CSRF_HEADER,
  callError,
  checkBearerSource,
  FORM_PREFIX,
  IDEMPOTENCY_HEADER,
  JSON_TYPE,
  parseUrl,
  RPC_PREFIX,
  readResult,
  toFormData,
} from "../protocol/index.ts";

/** Sends a request: the platform's `fetch`, or a replacement. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** The options of a client. */
export interface ClientOptions {
  /**
   * The bearer token of every request, such as an API key, or a function that returns it or a promise of it, which is called before
   * each request. The server needs `authenticate`.
   */
  readonly bearer?: BearerSource;
  /** Headers of every request. A `cookie` header sets the initial cookies of the client. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The function that sends the requests. Default: the platform's `fetch`. */
  readonly fetch?: Fetch;
  /** When it aborts, all current and later calls reject with `internal`. */
  readonly signal?: AbortSignal;
  /** The time limit of a call, in seconds, above 0 and at most 2,147,483. It does not apply to streams. Default: none. */
  readonly timeout?: number;
}

/** Sends the requests of one client and keeps its cookies, its CSRF token and the signatures of functions. */
export class Connection {
  /** The time limit of a call, in seconds. */
  readonly timeout: number | undefined;
  readonly #base: string;
  readonly #headers: Headers;
  readonly #bearer: BearerSource | undefined;
  readonly #fetch: Fetch;
  readonly #signal: AbortSignal | undefined;
  readonly #jar = new CookieJar();
  readonly #signatures = new Map<string, Promise<RemoteSignature>>();
  #token: string | undefined;

  /**
   * @param base the application's address, its base path included
   * @throws TypeError for an invalid address, header or timeout
   */
  constructor(base: string | URL, options: ClientOptions = {}) {
    this.#base = checkBase(base);
    this.timeout = checkTimeout(options.timeout);
    this.#headers = new Headers(options.headers);
    this.#bearer = options.bearer;
    if (options.bearer !== undefined) checkBearerSource(options.bearer, this.#headers, "client");
    this.#fetch = options.fetch ?? ((url, init) => fetch(url, init));
    this.#signal = options.signal;
    this.#jar.storeCookieHeader(this.#headers.get("cookie") ?? "");
    this.#headers.delete("cookie");
  }

  /**
   * Sends a call and resolves with its response, regardless of the status. A call with files is sent as a form. If the
   * response is 403 and carries a CSRF token, the call is sent once more with this token, because this client may not
   * have had one.
   *
   * @param key the key of a call of an idempotent function
   * @throws RPCError `internal` if the server is unreachable
   * @see docs/protocol.md 8.5
   */
  readonly post = async (name: string, args: Arguments, signal: AbortSignal, key?: string): Promise<Response> => {
    const form = toFormData(args);
    const send = form
      ? () => this.#send(FORM_PREFIX + encodeURIComponent(name), { method: "POST", body: form, signal })
      : () =>
          this.#send(RPC_PREFIX + encodeURIComponent(name), {
            method: "POST",
            body: JSON.stringify({ args }),
            signal,
            headers: key === undefined ? {} : { [IDEMPOTENCY_HEADER]: key },
          });
    const response = await send();
    if (response.status !== 403 || !response.headers.has(CSRF_HEADER)) return response;
    await response.body?.cancel();
    return send();
  };

  /**
   * Resolves with the signature of a function, which is requested from the server once.
   *
   * @throws RPCError `not_found` if the function does not exist
   */
  signatureOf(name: string): Promise<RemoteSignature> {
    const cached = this.#signatures.get(name);
    if (cached) return cached;
    const requested = this.#requestSignature(name);
    this.#signatures.set(name, requested);
    // After an error, the next call requests it again. The error itself reaches everyone who awaits this promise.
    requested.catch(() => this.#signatures.delete(name));
    return requested;
  }

  /** Returns whether the client's own signal has aborted. */
  get isStopped(): boolean {
    return this.#signal?.aborted ?? false;
  }

  async #requestSignature(name: string): Promise<RemoteSignature> {
    const response = await this.#send(RPC_PREFIX + encodeURIComponent(name), { method: "GET" });
    const error = await readResult(name, response).catch((error: unknown) => error);
    const signature = response.status === 405 && error instanceof RPCError ? readRemoteSignature(error.details) : null;
    if (signature) return signature;
    if (response.status === 405) {
      const similar = error instanceof RPCError ? error.details.similar : undefined; // a development server sends it
      const question = typeof similar === "string" ? `. Did you mean ${similar}?` : "";
      throw new RPCError("not_found", `${name}: there is no server function with this name${question}`);
    }
    throw error instanceof RPCError
      ? error
      : callError(`${name}: the server did not send the function's parameter names`, error);
  }

  async #send(path: string, init: RequestInit): Promise<Response> {
    const headers = new Headers(this.#headers);
    new Headers(init.headers).forEach((value, name) => void headers.set(name, value));
    if (typeof init.body === "string") headers.set("content-type", JSON_TYPE);
    else if (init.body) {
      headers.delete("content-type"); // fetch sets it, with the boundary
      // A form of a cookie must have an origin. Browsers set it themselves. With a token, the site may have another address than this.
      if (this.#bearer === undefined) headers.set("origin", new URL(this.#base).origin);
    }
    if (this.#bearer !== undefined) headers.set("authorization", await authorizationOf(this.#bearer, "client"));
    const cookie = this.#jar.cookieHeader();
    if (cookie !== null) headers.set("cookie", cookie);
    if (this.#token !== undefined) headers.set(CSRF_HEADER, this.#token);
    const signals = [init.signal, this.#signal].filter((signal) => signal != null);
    // Redirects are not followed: they could send the arguments to another site.
    const all: RequestInit = { ...init, headers, signal: AbortSignal.any(signals), redirect: "manual" };
    const response = await this.#fetch(this.#base + path, all).catch((cause) => {
      const name = decodeURIComponent(path.slice(path.lastIndexOf("/") + 1));
      throw callError(`${name}: ${this.#base} could not be reached`, cause);
    });
    this.#jar.storeSetCookies(response.headers.getSetCookie());
    this.#token = response.headers.get(CSRF_HEADER) ?? this.#token;
    return response;
  }
}

function checkBase(base: string | URL): string {
  const url = parseUrl(String(base));
  if (url && /^https?:$/.test(url.protocol) && url.href === url.origin + url.pathname) {
    return url.origin + url.pathname.replace(/\/+$/, "");
  }
  // The address is not in the message, because it may contain a password.
  throw new TypeError(
    "client: the address is invalid. Write http://shop.example or http://shop.example/base, without credentials, query and fragment.",
  );
}

function checkTimeout(seconds: number | undefined): number | undefined {
  if (seconds === undefined || (seconds > 0 && seconds <= MAX_SECONDS)) return seconds;
  throw new TypeError(
    `client: timeout is ${String(seconds)}. It must be a number of seconds above 0 and at most ${MAX_SECONDS}.`,
  );
}

/** The maximum delay of a timer, in seconds. */
const MAX_SECONDS = 2_147_483;

/** The part of a server function's signature that a client requests at run time, when its types no longer exist. */
interface RemoteSignature {
  /** The names of its positional parameters, in order; absent if it takes one object of its parameters. */
  readonly params?: readonly string[];
  /** Whether its values are streamed. */
  readonly stream: boolean;
}

/**
 * Returns the signature in the `details` of a 405 response; `null` if there is none, because the function does not
 * exist.
 *
 * @see docs/protocol.md 3.4
 */
export function readRemoteSignature(details: Readonly<Record<string, unknown>>): RemoteSignature | null {
  const { parameters, keyed, stream } = details;
  if (!Array.isArray(parameters) || !parameters.every((name) => typeof name === "string")) return null;
  return { stream: stream === true, ...(keyed === true ? {} : { params: parameters }) };
}
