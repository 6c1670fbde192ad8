import type { App } from "../app.ts";
import { type Client, client, type Fetch } from "../client/index.ts";
import { CookieJar } from "../cookies/index.ts";
import { FetchInboundRequest, type StringRecord, RequestContext, requestId, runInContext, traceParent } from "../http/index.ts";
import type { Feed, Serialized, Stream } from "../protocol/index.ts";
import { LIVE_PATH } from "../protocol/index.ts";
import type { ServerFunction } from "../rpc/index.ts";
import { type LoginClaims, session } from "../session/index.ts";
import { inProcessFetch } from "./in-process-fetch.ts";
import { subscription } from "./subscription.ts";
import { readVisit, type Visit } from "./visit.ts";

/** Who a visitor is. */
export interface VisitorOptions {
  /** The address calls come from, which rates are counted by; another for each visitor unless said. */
  readonly address?: string;
  /** The site; the first of `WEB_ORIGIN`, else `http://localhost`. */
  readonly origin?: string;
  /** Headers of every request. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** How a page is asked for. */
export interface GetOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether redirects within the site are followed; they are not unless said. */
  readonly follow?: boolean;
}

/** A person who visits an application, with cookies of their own. */
export interface Visitor {
  /** The cookies of the visitor: name to value, as the application set them. */
  readonly cookies: StringRecord;

  /**
   * Visits a page, and reads it whole.
   *
   * @param path below the site, the application's base included
   */
  get(path: string, options?: GetOptions): Promise<Visit>;

  /** Sends any request, to a raw route say, and gives the answer as it is. */
  fetch(path: string, init?: RequestInit): Promise<Response>;

  /**
   * Calls a server function by its name, with its parameters by theirs.
   *
   * @throws RPCError the function's own, or that of the pipeline
   */
  rpc(name: string, args?: Readonly<Record<string, unknown>>): Promise<unknown>;

  /** Calls a streaming function; nothing runs before the first read. */
  stream(name: string, args?: Readonly<Record<string, unknown>>): Stream<unknown>;

  /**
   * Gives the server functions of a module, called with the types they have.
   *
   * @example await guest.client<typeof accounts>().login("ada@example.com", "correct horse");
   */
  client<M>(): Client<M>;

  /**
   * Listens, as `subscribe` does in a page: gives what is published to the feed's channel since the feed
   * was issued. Leaving the loop ends it.
   *
   * @throws Error for a feed that is refused, and once messages are lost for good
   * @example for await (const message of guest.subscribe(feed)) …
   */
  subscribe<T>(feed: Feed<T>): AsyncGenerator<Serialized<T>, void>;

  /**
   * Signs in, as the application's own function would with `session.login`.
   *
   * @throws TypeError for a user id or claims that no session can keep
   */
  login(user_id: string, ...claims: LoginClaims): void;

  /** Signs out. */
  logout(): void;
}

let visitors = 0;

/** Gives an address that no other visitor has, of those that are nobody's on the internet. */
function uniqueAddress(): string {
  visitors++;
  return `10.${(visitors >> 16) & 255}.${(visitors >> 8) & 255}.${visitors & 255}`;
}

/**
 * Gives a visitor of an application, for tests: what they ask for passes the whole pipeline, in
 * this process. Each visitor is another person, from another address.
 *
 * @throws TypeError for an origin or a header that cannot be used
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
  readonly #jar = new CookieJar();
  readonly #process: Fetch;
  readonly #functions: Client<Record<string, ServerFunction<readonly unknown[], unknown>>>;

  constructor(app: App, options: VisitorOptions) {
    this.#app = app;
    this.#address = options.address ?? uniqueAddress();
    this.#origin = new URL(options.origin ?? app.config.origins[0] ?? "http://localhost").origin;
    this.#headers = new Headers(options.headers);
    this.#process = inProcessFetch(app, this.#address);
    this.#functions = this.client();
  }

  get cookies(): StringRecord {
    return Object.freeze(this.#jar.all());
  }

  async get(path: string, { headers = {}, follow = false }: GetOptions = {}): Promise<Visit> {
    let url = this.#addressOf(path);
    for (let steps = 0; steps <= MAX_REDIRECTS; steps++) {
      const response = await this.#send(url.href, { headers });
      const location = response.headers.get("location");
      const next = follow && location !== null ? new URL(location, url) : null;
      if (next?.origin !== this.#origin) return readVisit(response, url);
      await response.body?.cancel();
      url = next;
    }
    throw new Error(`${path} leads from one redirect to the next, ${MAX_REDIRECTS} times over.`);
  }

  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    return this.#send(this.#addressOf(path).href, init);
  }

  async rpc(name: string, args: Readonly<Record<string, unknown>> = {}): Promise<unknown> {
    return this.#functionOf(name).named(args);
  }

  stream(name: string, args: Readonly<Record<string, unknown>> = {}): Stream<unknown> {
    // What a function gives is not in a name; read as a stream, it is one or fails.
    return this.#functionOf(name).named(args) as unknown as Stream<unknown>;
  }

  client<M>(): Client<M> {
    return client<M>(this.#origin + this.#app.base, { fetch: (url, init) => this.#send(url, init) });
  }

  subscribe<T>(feed: Feed<T>): AsyncGenerator<Serialized<T>, void> {
    const path = `${this.#app.base}${LIVE_PATH}?feed=${encodeURIComponent(feed)}`;
    const messages = subscription((url, init) => this.#send(url, init ?? {}), this.#addressOf(path).href);
    return messages as AsyncGenerator<Serialized<T>, void>; // what is published there, the feed's type says
  }

  login(user_id: string, ...claims: LoginClaims): void {
    this.#withSession(() => session.login(user_id, ...claims));
  }

  logout(): void {
    this.#withSession(() => session.logout());
  }

  #functionOf(name: string): ServerFunction<readonly unknown[], unknown> {
    const found = this.#functions[name];
    if (found) return found;
    throw new TypeError(`visitor: no server function can be named ${JSON.stringify(name)}.`);
  }

  #addressOf(path: string): URL {
    const url = URL.canParse(path, this.#origin) ? new URL(path, this.#origin) : null;
    if (url?.origin === this.#origin) return url;
    throw new TypeError(`visitor: ${JSON.stringify(path)} is no path of ${this.#origin}.`);
  }

  async #send(url: string, init: RequestInit): Promise<Response> {
    const headers = new Headers(this.#headers);
    new Headers(init.headers).forEach((value, name) => {
      headers.set(name, value);
    });
    const cookie = this.#jar.cookieHeader();
    if (cookie === null) headers.delete("cookie");
    else headers.set("cookie", cookie);
    const response = await this.#process(url, { ...init, headers });
    this.#jar.storeSetCookies(response.headers.getSetCookie());
    return response;
  }

  /** Runs work in a request of this visitor, and keeps the cookies it sets: the real session's own. */
  #withSession(work: () => void): void {
    const cookie = this.#jar.cookieHeader();
    const request = new Request(this.#origin, { headers: cookie === null ? {} : { cookie } });
    const context = new RequestContext({
      inbound: new FetchInboundRequest(request),
      id: requestId(null),
      traceparent: traceParent(null),
      address: this.#address,
      config: this.#app.config,
    });
    runInContext(context, work);
    this.#jar.storeSetCookies(context.setCookieHeaders);
  }
}

const MAX_REDIRECTS = 20;
