import { createHash } from "node:crypto";
import { matchesEtag } from "../files/index.ts";
import {
  awaitMaybe,
  type ContextValues,
  type HandlerResponse,
  htmlResponse,
  isSitePath,
  type MaybeAsync,
  publicOrigin,
  type RequestContext,
  refuseEffect,
  rejectInQuery,
  runOutsideRequests,
  SharedRendering,
} from "../http/index.ts";
import { type AppBus, currentBus } from "../live/index.ts";
import {
  handlePage,
  handlePageError,
  type PageDefinition,
  type PageSettings,
  renderSharedPage,
  type SharedPage,
} from "../pages/index.ts";
import { formatLocation } from "./modules.ts";
import { type CachedPage, PageCache, type Rendered } from "./page-cache.ts";
import { compressHtml, pageCoding } from "./page-compression.ts";
import { type Router, withUpperCaseDigits } from "./router.ts";

/** The channel of revalidations. An application cannot choose the name: it has a control character. */
const CHANNEL = "\u0001revalidate";

/** How long to wait before the bus is watched again, after that has failed. */
const RETRY_MS = 1_000;

/** The options of {@link CachedPages}. */
export interface CachedPagesOptions {
  readonly bus: AppBus;
  readonly router: Router;
  /** The path below which the application is served; empty for the root. */
  readonly base: string;
  readonly provided: ContextValues;
}

/** A request for a page with the option `cache`. */
interface CachedRequest {
  /** The path below the base, percent-encoded. */
  readonly path: string;
  readonly page: PageDefinition;
  readonly params: Record<string, string | undefined>;
}

type OtherResult = Extract<SharedPage, { html: null }>;

/** The cached pages of an application, by the bus of the application. Entries live as long as the bus. */
const cachedPagesOf = new WeakMap<AppBus, CachedPages>();

/** The pages of an application with the option `cache`. */
export class CachedPages {
  readonly cache = new PageCache<OtherResult>();
  readonly #options: CachedPagesOptions;
  /** Pages that use what belongs to one client. They are rendered for each request. */
  readonly #personal = new Set<PageDefinition>();
  #following: Promise<void> | undefined;
  #retryAtMs = 0;

  constructor(options: CachedPagesOptions) {
    this.#options = options;
    cachedPagesOf.set(options.bus, this);
  }

  /**
   * Receives revalidations from now on. Before, and while the bus does not respond, no rendering is kept. Never rejects; it is called
   * again by requests.
   */
  start(): void {
    if (this.#following || performance.now() < this.#retryAtMs) return;
    this.#following = runOutsideRequests(() => this.#options.bus.follow(CHANNEL, (json) => this.#receive(json))).then(
      () => {
        this.cache.isKeeping = true;
      },
      () => {
        this.#following = undefined;
        this.#retryAtMs = performance.now() + RETRY_MS;
      },
    );
  }

  #receive(json: string | null): void {
    if (json === null) this.cache.drop(null);
    else for (const path of JSON.parse(json) as string[]) this.cache.drop(path); // written below
  }

  /**
   * Returns the response of a page with the option `cache`: what was rendered for all clients, with the headers of this request. In
   * development it is rendered for each request, in the same way.
   *
   * In production, a page that uses what belongs to one client is rendered for each of them, and never cached again. A warning says
   * why, once.
   *
   * @param path the path below the base
   * @see docs/protocol.md 11.8
   */
  *handle(
    context: RequestContext,
    { page, params, path }: CachedRequest,
    settings: PageSettings,
  ): MaybeAsync<HandlerResponse> {
    if (!this.#personal.has(page)) {
      try {
        return yield* awaitMaybe(this.#respond(context, { page, params, path }, settings));
      } catch (error) {
        if (settings.development) {
          return yield* awaitMaybe(handlePageError(context, error, { subject: `The page ${page.path}` }, settings));
        }
        if (!this.#personal.has(page)) settings.log.warn({ err: error }, `The page ${page.path} is not cached`);
        this.#personal.add(page);
      }
    }
    return yield* handlePage(context, page, params, settings);
  }

  async #respond(context: RequestContext, request: CachedRequest, settings: PageSettings): Promise<HandlerResponse> {
    const { page } = request;
    const { seconds = 0, query = [] } = page.options.cache ?? {};
    const address = this.#addressOf(request.path);
    const key = `${publicOrigin(context)}${address}${namedQuery(context, query)}`;
    const render = async () => {
      const shared = this.#createRendering(context, { page, url: key, query });
      return renderSharedPage(shared, page, request.params, settings);
    };
    if (settings.development) {
      const rendered = await render();
      return rendered.html === null ? rendered.respond(context) : htmlResponse(200, rendered.html);
    }
    this.start();
    const startedAtMs = performance.now();
    const rendered = await this.cache.find({ key, path: address, seconds }, async () =>
      toCachedPage(await render(), startedAtMs),
    );
    if (!rendered.page) return rendered.other.respond(context);
    return this.#respondWithCached(context, rendered.page, { key, seconds });
  }

  async #respondWithCached(
    context: RequestContext,
    page: CachedPage,
    { key, seconds }: { readonly key: string; readonly seconds: number },
  ): Promise<HandlerResponse> {
    const { inbound, config } = context;
    const ageSeconds = Math.floor((performance.now() - page.renderedAtMs) / 1000);
    const headers = {
      "cache-control": `public, s-maxage=${seconds}`,
      etag: page.etag,
      ...(ageSeconds > 0 ? { age: String(ageSeconds) } : {}),
      ...(config.compress ? { vary: "Accept-Encoding" } : {}),
    };
    const ifNoneMatch = inbound.header("if-none-match");
    if (ifNoneMatch !== null && matchesEtag(ifNoneMatch, page.etag)) return { status: 304, headers, body: null };
    const type = { "content-type": HTML_TYPE };
    // The page contains nothing of a client, so its size reveals nothing to another one.
    const coding = config.compress ? codingOf(page, inbound.header("accept-encoding")) : null;
    if (coding === null) return { status: 200, headers: { ...type, ...headers }, body: page.html };
    const body = await this.cache.compressed(page, { key, coding }, (html) => compressHtml(html, coding));
    return { status: 200, headers: { ...type, ...headers, "content-encoding": coding }, body };
  }

  #createRendering(
    { id, traceparent, config, trace, revocationOrder }: RequestContext,
    { page, url, query }: { readonly page: PageDefinition; readonly url: string; readonly query: readonly string[] },
  ): SharedRendering {
    const rendering = new SharedRendering({
      id,
      traceparent,
      config,
      revocationOrder,
      provided: this.#options.provided,
      url,
      query,
      subject: `The page ${page.path} (${formatLocation(page.source)}) is ${page.options.static ? "static" : "cached"}`,
      fix: `Move it into a view or a server function, or remove the option ${page.options.static ? "static" : "cache"}.`,
      queryFix: "Name the parameter in the list `query` of the option cache.",
    });
    rendering.context.trace = trace;
    return rendering;
  }

  /** Returns the path of an address, with the base. */
  #addressOf(path: string): string {
    const { base } = this.#options;
    return withUpperCaseDigits(path === "/" && base !== "" ? base : base + path);
  }

  /**
   * Drops the page of a path in every process.
   *
   * @throws TypeError for a path that no page with the option `cache` has
   */
  async revalidate(path: string): Promise<void> {
    const { base, router, bus } = this.#options;
    const { pathname } = new URL(path, "http://site.invalid");
    // With and without the base, as a link and a redirect have it. If both are pages, both are dropped.
    const below = base !== "" && `${pathname}/`.startsWith(`${base}/`) ? [pathname.slice(base.length)] : [];
    const addresses = [pathname, ...below]
      .map((candidate) => candidate.replace(/\/+$/, "") || "/")
      .filter((candidate) => isCached(router("GET", candidate)))
      .map((candidate) => this.#addressOf(candidate));
    if (addresses.length === 0) throw noPageError(path);
    for (const address of addresses) this.cache.drop(address); // at once: the caller may render the page next
    await bus.open().publish(CHANNEL, JSON.stringify(addresses));
  }
}

const HTML_TYPE = "text/html; charset=utf-8";

function isCached(match: ReturnType<Router>): boolean {
  return match?.kind === "page" && match.page.options.cache !== undefined;
}

/** Returns the query with the named parameters only, in the order of their names; empty without any. */
function namedQuery({ query }: RequestContext, names: readonly string[]): string {
  const named = names.flatMap((name) => (query[name] === undefined ? [] : [[name, query[name]]]));
  return named.length === 0 ? "" : `?${new URLSearchParams(named)}`;
}

function toCachedPage(rendered: SharedPage, renderedAtMs: number): Rendered<OtherResult> {
  if (rendered.html === null) return { page: null, other: rendered };
  const html = new TextEncoder().encode(rendered.html);
  const hash = createHash("sha256").update(html).digest("base64url").slice(0, 22);
  // Weak: the compressed bytes have the same one.
  return { page: { html, compressed: new Map(), etag: `W/"${hash}"`, renderedAtMs } };
}

function codingOf({ html }: CachedPage, acceptEncoding: string | null): ReturnType<typeof pageCoding> {
  const { byteLength: bytes } = html;
  const none = { fetchSite: null, cacheControl: null, etag: null, contentEncoding: null };
  return pageCoding({ bytes, acceptEncoding, isPersonal: false, ...none });
}

/**
 * Drops the rendering of a page with the option `cache`, with all its variants, in every process: the next request renders it
 * again. Call it after its data were changed. Resolves when this process has dropped it and the bus has stored the message for
 * the others, which drop it within milliseconds. A process that may have missed a message drops all its pages. Shared caches,
 * such as those of a CDN, and browsers are not reached.
 *
 * @param path the path of the page, with or without the application's base, such as `/news/12`; not a pattern
 * @throws TypeError for a path that no page with the option `cache` has
 * @throws Error if the bus does not confirm the message within 10 seconds: other processes may show the page until its time is
 *   over
 * @throws Error outside a request, if the process has several applications
 * @see docs/protocol.md 11.8
 * @example await revalidate(`/news/${id}`);
 */
export async function revalidate(path: string): Promise<void> {
  rejectInQuery("revalidate()");
  if (!isSitePath(path)) throw new TypeError(`revalidate(): ${JSON.stringify(path)} is not a path of this site.`);
  refuseEffect("revalidate()");
  const pages = cachedPagesOf.get(currentBus("revalidate"));
  if (!pages) throw noPageError(path);
  await pages.revalidate(path);
}

function noPageError(path: string): TypeError {
  return new TypeError(
    `revalidate(): no page with the option cache has the path ${JSON.stringify(path)}. Pass the path of one, with its ` +
      "parameters filled in.",
  );
}
