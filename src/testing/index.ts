/**
 * The entry point `tsweb/testing`: simulated users of an application, in the process of its tests.
 */
import type { App } from "../app.ts";
import { type Client, client, type Fetch } from "../client/index.ts";
import { CookieJar } from "../cookie-jar.ts";
import {
  ContextValues,
  FetchInboundRequest,
  RequestContext,
  requestIds,
  runInContext,
  type StringRecord,
} from "../http/index.ts";
import {
  authorizationOf,
  type BearerSource,
  type Call,
  checkBearerSource,
  createEventParser,
  type Feed,
  GAP_EVENT,
  LIVE_PATH,
  REDIRECT_HEADER,
  readLines,
  type SerializedResult,
  type Stream,
} from "../protocol/index.ts";
import type { ServerFunction } from "../rpc/index.ts";
import { internalsOf, requireInternals } from "../server/index.ts";
import { type LoginClaims, SESSIONS, session } from "../session/index.ts";
import { inProcessFetch } from "./in-process-fetch.ts";

export type { Client } from "../client/index.ts";
export { type ErrorCode, RPCError } from "../errors.ts";
export type { BearerSource, Call, Feed, Serialized, Stream } from "../protocol/index.ts";

/** The options of a visitor. */
export interface VisitorOptions {
  /** The client address, by which rate limits count. Default: an address that no other visitor has. */
  readonly address?: string;
  /** The origin of the site. Default: the first origin of `WEB_ORIGIN`, or `http://localhost`. */
  readonly origin?: string;
  /** Headers of every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * The bearer token of every request, such as an API key, or a function that returns it, which is called before each request. The
   * application needs `authenticate`. On pages it has no effect: there, this user is signed in with `login`.
   */
  readonly bearer?: BearerSource;
}

/** The options of a page request. */
export interface GetOptions {
  /** Headers of this request, in addition to those of the visitor. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether redirects within the site are followed, at most 20. Default: `false`. */
  readonly follow?: boolean;
}

/** A simulated user of an application. It has its own cookies and its own address. */
export interface Visitor {
  /** The cookies of this user: name to value, as the application set them. */
  readonly cookies: StringRecord;

  /**
   * The URL to which the function of the latest call redirected, the application's base included; `null` if it did not
   * redirect. A browser would have opened it. The call itself resolves with `null`.
   */
  readonly location: string | null;

  /**
   * Requests a page and reads its whole response. An error page is a response too: check `status`.
   *
   * @param path the path on the site, the application's base included
   * @throws TypeError for a path of another site
   * @throws Error after 20 redirects
   */
  get(path: string, options?: GetOptions): Promise<Visit>;

  /**
   * Sends any request, for example to a route, and resolves with the response.
   *
   * @throws TypeError for a path of another site
   */
  fetch(path: string, init?: RequestInit): Promise<Response>;

  /**
   * Calls a server function with arguments by name, and resolves with its result.
   *
   * @throws RPCError with the code, message and details of the response
   * @throws TypeError at once for a name that no function can have
   */
  rpc(name: string, args?: Readonly<Record<string, unknown>>): Call<unknown>;

  /**
   * Returns the stream of a streaming function that is called with arguments by name. Nothing runs before the first read,
   * which throws the `RPCError` of a rejected call.
   */
  stream(name: string, args?: Readonly<Record<string, unknown>>): Stream<unknown>;

  /**
   * Returns a client of the server functions of a module, with their types.
   *
   * @example await guest.client<typeof accounts>().login("ada@example.com", "correct horse");
   */
  client<M>(): Client<M>;

  /**
   * Yields the messages of the feed's channel that are published after the feed was issued, like `subscribe` in a page.
   * Leaving the loop ends the subscription.
   *
   * @throws TypeError for a value that is no feed
   * @throws Error for a feed that is rejected, and after a gap
   * @example for await (const message of guest.subscribe(feed)) …
   */
  subscribe<T>(feed: Feed<T>): AsyncGenerator<SerializedResult<T>, void>;

  /**
   * Signs this user in, without a request to the application: sets the cookie that `session.login` would set.
   *
   * @throws TypeError for a user id or claims that `session.login` rejects
   */
  login(user_id: string, ...claims: LoginClaims): void;

  /** Signs this user out by deleting the session cookie. */
  logout(): void;
}

function feedAdvice(value: unknown): string {
  const isPresence = typeof value === "object" && value !== null && "token" in value;
  const type = value === null ? "null" : typeof value;
  const [received, fix] = isPresence
    ? [
        "what presence() returns",
        'To be present, send its token with fetch: a POST to "/__web/live" with the JSON { tokens: [here.token] }.',
      ]
    : [`a value of type ${type}`, "Return the feed from a server function, and pass what the visitor has received."];
  return `visitor: subscribe() needs a feed of channel(), and received ${received}. ${fix}`;
}

/** The number of visitors in this process, from which each gets its address. */
let visitorCount = 0;

/** Returns an address that no other visitor has, from the private range 10.0.0.0/8. */
function uniqueAddress(): string {
  visitorCount++;
  return `10.${(visitorCount >> 16) & 255}.${(visitorCount >> 8) & 255}.${visitorCount & 255}`;
}

/**
 * Returns a simulated user of an application, for tests. Requests run through the whole pipeline of the application in
 * this process, without a network. Each visitor is a different user with a different address.
 *
 * @throws TypeError for a value that is not an application, and for an invalid origin or header
 * @example
 * const guest = visitor(app);
 * guest.login("ada@example.com", { name: "Ada" });
 * expect((await guest.get("/account")).text).toContain("Ada");
 */
export function visitor(app: App, options: VisitorOptions = {}): Visitor {
  return new InProcessVisitor(app, options);
}

class InProcessVisitor implements Visitor {
  readonly #app: App;
  readonly #address: string;
  readonly #origin: string;
  readonly #headers: Headers;
  readonly #bearer: BearerSource | undefined;
  readonly #jar = new CookieJar();
  readonly #fetch: Fetch;
  #location: string | null = null;
  readonly #functions: Client<Record<string, ServerFunction<readonly unknown[], unknown>>>;

  constructor(app: App, options: VisitorOptions) {
    requireApp(app);
    this.#app = app;
    this.#address = options.address ?? uniqueAddress();
    this.#origin = new URL(options.origin ?? app.config.origins[0] ?? "http://localhost").origin;
    this.#headers = new Headers(options.headers);
    this.#bearer = options.bearer;
    if (options.bearer !== undefined) checkBearerSource(options.bearer, this.#headers, "visitor");
    this.#fetch = inProcessFetch(app, this.#address);
    this.#functions = this.client();
  }

  get cookies(): StringRecord {
    return Object.freeze(this.#jar.all());
  }

  get location(): string | null {
    return this.#location;
  }

  async get(path: string, { headers = {}, follow = false }: GetOptions = {}): Promise<Visit> {
    let url = this.#urlOf(path);
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
      const response = await this.#send(url.href, { headers });
      const location = response.headers.get("location");
      const next = follow && location !== null ? new URL(location, url) : null;
      if (next?.origin !== this.#origin) return readVisit(response, url);
      await response.body?.cancel();
      url = next;
    }
    throw new Error(`visitor: ${path} redirects more than ${MAX_REDIRECTS} times.`);
  }

  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    return this.#send(this.#urlOf(path).href, init);
  }

  rpc(name: string, args: Readonly<Record<string, unknown>> = {}): Call<unknown> {
    return this.#functionOf(name).named(args);
  }

  stream(name: string, args: Readonly<Record<string, unknown>> = {}): Stream<unknown> {
    // Whether the function streams is not known here. If it does not, the first read throws.
    return this.#functionOf(name).named(args) as unknown as Stream<unknown>;
  }

  client<M>(): Client<M> {
    return client<M>(this.#origin + this.#app.base, { fetch: (url, init) => this.#call(url, init) });
  }

  subscribe<T>(feed: Feed<T>): AsyncGenerator<SerializedResult<T>, void> {
    if (typeof feed !== "string") throw new TypeError(feedAdvice(feed));
    const path = `${this.#app.base}${LIVE_PATH}?feed=${encodeURIComponent(feed)}`;
    const messages = subscription((url, init) => this.#send(url, init ?? {}), this.#urlOf(path).href);
    return messages as AsyncGenerator<SerializedResult<T>, void>; // the feed carries the type of its messages
  }

  login(user_id: string, ...claims: LoginClaims): void {
    this.#runInRequest(() => session.login(user_id, ...claims));
  }

  logout(): void {
    this.#runInRequest(() => session.logout());
  }

  #functionOf(name: string): ServerFunction<readonly unknown[], unknown> {
    const fn = this.#functions[name];
    if (fn) return fn;
    throw new TypeError(`visitor: ${JSON.stringify(name)} cannot be the name of a server function.`);
  }

  #urlOf(path: string): URL {
    const url = URL.canParse(path, this.#origin) ? new URL(path, this.#origin) : null;
    if (url?.origin === this.#origin) return url;
    throw new TypeError(`visitor: ${JSON.stringify(path)} is not a path of ${this.#origin}. Write it as "/path".`);
  }

  async #send(url: string, init: RequestInit): Promise<Response> {
    const headers = new Headers(this.#headers);
    new Headers(init.headers).forEach((value, name) => {
      headers.set(name, value);
    });
    if (this.#bearer !== undefined && !headers.has("authorization")) {
      headers.set("authorization", await authorizationOf(this.#bearer, "visitor"));
    }
    const cookie = this.#jar.cookieHeader();
    if (cookie === null) headers.delete("cookie");
    else headers.set("cookie", cookie);
    const response = await this.#fetch(url, { ...init, headers });
    this.#jar.storeSetCookies(response.headers.getSetCookie());
    return response;
  }

  async #call(url: string, init: RequestInit): Promise<Response> {
    const response = await this.#send(url, init);
    this.#location = response.headers.get(REDIRECT_HEADER);
    return response;
  }

  /** Runs work in a request of this visitor and stores the cookies that it sets. The session code is the real one. */
  #runInRequest(work: () => void): void {
    const { sessions } = requireInternals(this.#app, "visitor()");
    void sessions.revocations.startForRequest(); // in memory, they are read at once
    const cookie = this.#jar.cookieHeader();
    const request = new Request(this.#origin, { headers: cookie === null ? {} : { cookie } });
    const context = new RequestContext({
      inbound: new FetchInboundRequest(request),
      ...requestIds(() => null),
      address: this.#address,
      config: this.#app.config,
      provided: new ContextValues().set(SESSIONS, sessions),
    });
    runInContext(context, work);
    this.#jar.storeSetCookies(context.setCookieHeaders);
  }
}

/** @throws TypeError that names what was received in place of the application, and how to fix it */
function requireApp(app: unknown): void {
  if (internalsOf(app)) return;
  throw new TypeError(`visitor() needs the application: visitor(app). Received: ${describeReceived(app)}`);
}

function describeReceived(value: unknown): string {
  if (value instanceof Promise) return 'a promise. Await it, or write `import app from "../src/app.ts"`.';
  if (typeof value !== "object" || value === null) {
    return `${value === null ? "null" : typeof value}. Import it: \`import app from "../src/app.ts"\`.`;
  }
  if ("default" in value && internalsOf(value.default)) return "its module. Pass the default export of the module.";
  return "another object. Pass the object that new App({…}) returned.";
}

/** The maximum number of redirects that are followed. */
const MAX_REDIRECTS = 20;

/** The response of a page, after its whole body was read. */
export interface Visit {
  readonly status: number;
  /** The path and query of the response. They differ from the requested ones if redirects were followed. */
  readonly path: string;
  /** The `Location` header: a path of the site, or the address of another site. */
  readonly location: string | null;
  readonly headers: Headers;
  /** The whole body. */
  readonly text: string;
}

/** Reads a whole response. */
async function readVisit(response: Response, { pathname, search }: URL): Promise<Visit> {
  const { status, headers } = response;
  return { status, path: pathname + search, location: headers.get("location"), headers, text: await response.text() };
}

/**
 * Yields the messages of an event stream, from the position of its only feed on. The stream is open while it is read.
 * It ends when the application stops.
 *
 * @throws Error for a feed that is rejected, and after a gap
 */
async function* subscription(fetch: Fetch, url: string): AsyncGenerator<unknown, void> {
  const controller = new AbortController();
  try {
    const response = await fetch(url, { signal: controller.signal });
    if (!response.ok) {
      throw new Error(`subscribe: ${(await response.text()).trim()} (${response.status})`);
    }
    const parse = createEventParser();
    for await (const lines of readLines(response.body ?? new ReadableStream())) {
      for (const line of lines) {
        const { event, id, data = [] } = parse(line) ?? {};
        const [channel, detail = ""] = data;
        if (event === GAP_EVENT) throw new Error(`subscribe: messages of channel ${channel} were missed (${detail}).`);
        if (id !== undefined && event === undefined) yield JSON.parse(detail);
      }
    }
  } finally {
    controller.abort();
  }
}
