import { CookieJar } from "../cookies/index.ts";
import { RPCError } from "../errors.ts";
import { type Arguments, CSRF_HEADER, callError, RPC_PREFIX, readResult } from "../protocol/index.ts";
import { type RemoteSignature, readRemoteSignature } from "./remote-signature.ts";

/** What sends a request: the platform's `fetch`, or what stands in for it. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** How an application is called. */
export interface ClientOptions {
  /** Headers of every request. A `cookie` among them is where the client's own cookies begin. */
  readonly headers?: Readonly<Record<string, string>>;
  /** What sends requests; the platform's unless said. */
  readonly fetch?: Fetch;
  /** Ends whatever is under way, and all that follows, once it aborts. */
  readonly signal?: AbortSignal;
  /** How long a call may take, in seconds; for ever unless said. It does not bound streams. */
  readonly timeout?: number;
}

/** One visitor's way to an application: the cookies and the CSRF token, and what was learned of its functions. */
export class Connection {
  /** How long a call may take, in seconds. */
  readonly timeout: number | undefined;
  readonly #base: string;
  readonly #headers: Headers;
  readonly #fetch: Fetch;
  readonly #signal: AbortSignal | undefined;
  readonly #jar = new CookieJar();
  readonly #shapes = new Map<string, Promise<RemoteSignature>>();
  #token: string | undefined;

  /**
   * @param base the application's address, its base path included
   * @throws TypeError for what is no address, a header that cannot be sent, or a timeout that is no time
   */
  constructor(base: string | URL, options: ClientOptions = {}) {
    this.#base = checkBase(base);
    this.timeout = checkTimeout(options.timeout);
    this.#headers = new Headers(options.headers);
    this.#fetch = options.fetch ?? ((url, init) => fetch(url, init));
    this.#signal = options.signal;
    this.#jar.storeCookieHeader(this.#headers.get("cookie") ?? "");
    this.#headers.delete("cookie");
  }

  /**
   * Sends a call and gives the response, whatever its status. A refusal that brings a fresh CSRF
   * token is tried once more with it: it may be the first that this client hears of tokens.
   *
   * @throws RPCError `internal` when the server cannot be reached
   */
  readonly post = async (name: string, args: Arguments, signal: AbortSignal): Promise<Response> => {
    const body = JSON.stringify({ args });
    const send = () => this.#send(name, { method: "POST", body, signal });
    const response = await send();
    if (response.status !== 403 || !response.headers.has(CSRF_HEADER)) return response;
    await response.body?.cancel();
    return send();
  };

  /**
   * Asks the server how a function is called, once for each; all that wait for the answer share it.
   *
   * @throws RPCError `not_found` when there is no such function
   */
  signatureOf(name: string): Promise<RemoteSignature> {
    const known = this.#shapes.get(name);
    if (known) return known;
    const asked = this.#ask(name);
    this.#shapes.set(name, asked);
    // What failed is asked again at the next call; whoever waits for this one hears of it.
    asked.catch(() => this.#shapes.delete(name));
    return asked;
  }

  /** Answers whether the client as a whole was told to stop. */
  get isStopped(): boolean {
    return this.#signal?.aborted ?? false;
  }

  async #ask(name: string): Promise<RemoteSignature> {
    const response = await this.#send(name, { method: "GET" });
    const error = await readResult(name, response).catch((error: unknown) => error);
    const shape = response.status === 405 && error instanceof RPCError ? readRemoteSignature(error.details) : null;
    if (shape) return shape;
    if (response.status === 405) throw new RPCError("not_found", `${name}: there is no server function of that name`);
    throw error instanceof RPCError ? error : callError(`${name}: the server does not say how it is called`, error);
  }

  async #send(name: string, init: RequestInit): Promise<Response> {
    const headers = new Headers(this.#headers);
    if (init.method === "POST") headers.set("content-type", "application/json");
    const cookie = this.#jar.cookieHeader();
    if (cookie !== null) headers.set("cookie", cookie);
    if (this.#token !== undefined) headers.set(CSRF_HEADER, this.#token);
    const signals = [init.signal, this.#signal].filter((signal) => signal instanceof AbortSignal);
    // A redirect is not followed: what leads elsewhere is not to get the arguments.
    const all: RequestInit = { ...init, headers, signal: AbortSignal.any(signals), redirect: "manual" };
    const response = await this.#fetch(`${this.#base}${RPC_PREFIX}${encodeURIComponent(name)}`, all).catch((cause) => {
      throw callError(`${name}: ${this.#base} could not be reached`, cause);
    });
    this.#jar.storeSetCookies(response.headers.getSetCookie());
    this.#token = response.headers.get(CSRF_HEADER) ?? this.#token;
    return response;
  }
}

function checkBase(base: string | URL): string {
  const url = URL.canParse(String(base)) ? new URL(base) : null;
  if (url && /^https?:$/.test(url.protocol) && url.href === url.origin + url.pathname) {
    return url.origin + url.pathname.replace(/\/+$/, "");
  }
  // Not shown: it may hold a password.
  throw new TypeError("client: the address must be as http://shop.example or http://shop.example/base, and no more.");
}

function checkTimeout(seconds: number | undefined): number | undefined {
  if (seconds === undefined || (seconds > 0 && seconds <= MAX_SECONDS)) return seconds;
  throw new TypeError(`client: timeout must be a number of seconds above 0 and at most ${MAX_SECONDS}.`);
}

/** The longest that timers can wait. */
const MAX_SECONDS = 2_147_483;
