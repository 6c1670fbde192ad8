import { isValidElement } from "preact";
import type { InferRouteParams } from "rou3";
import { rejectUnknownOptions } from "../config/index.ts";
import { checkSecurityOptions, type Redirect, type SecurityOptions } from "../http/index.ts";
import type { Linkable, Markup, PageSource } from "../protocol/index.ts";
import { checkLayout, type Layout } from "./layout.ts";
import { createHref, type Href } from "./links.ts";

/** The options of a page. `policy` and `headers` take precedence over the application's. */
export interface PageOptions extends SecurityOptions {
  /** The title of the page. The application's title is appended: `Sign in · Accounts`. */
  readonly title?: string;
  /** The language of the page. Default: the application's. */
  readonly lang?: string;
  /** The layout of the page. Default: the application's. `false` for none. */
  readonly layout?: Layout | false;
  /**
   * The time limit of the parts of the page that `Later` declares, in seconds, above 0 and at most 60. Then `request.signal` aborts,
   * and an error is shown in the place of each part that is not there yet. Default: 30.
   */
  readonly later_timeout?: number;
  /**
   * Renders the page once for all clients, and keeps it in the memory of the process: for a page that uses nothing of one request.
   * Default: it is rendered for each request.
   */
  readonly cache?: PageCacheOptions;
  /**
   * Renders the page in the build, into a file: for a page that uses nothing of a request. `"public"` in an application with
   * `before`, which other file servers do not run. Default: it is rendered for each request.
   */
  readonly static?: true | "public";
  /** Returns the parameters of each path of a static page that the build renders. Others are rendered for each request. */
  readonly params?: () => readonly object[] | Promise<readonly object[]>;
  /** Whether browsers may request the page before a link to it is clicked. Default: as `prefetch` of the application. */
  readonly prefetch?: false;
}

/** How a page is cached. @see docs/protocol.md 11.8 */
export interface PageCacheOptions {
  /** How long a rendering is used, here and in shared caches, in whole seconds from 1 to a year. */
  readonly seconds: number;
  /** The names of the query parameters on which the page depends. Others are not seen by it. Default: none. */
  readonly query?: readonly string[];
}

const OPTIONS: Readonly<Record<keyof PageOptions, true>> = {
  title: true,
  lang: true,
  layout: true,
  later_timeout: true,
  prefetch: true,
  policy: true,
  headers: true,
  cache: true,
  static: true,
  params: true,
};

const CACHE_OPTIONS: Readonly<Record<keyof PageCacheOptions, true>> = { seconds: true, query: true };

/** The result of a page function. */
export type PageResult = Markup | Redirect;

/** A page function. It receives the parameters of the path, and may be async; components may not. */
export type PageFunction<Path extends string> = (params: InferRouteParams<Path>) => PageResult | Promise<PageResult>;

/** A page, as a module exports it. */
export interface Page<Path extends string = string> extends Linkable<InferRouteParams<Path>> {
  /** The path pattern of its declaration. */
  readonly path: Path;
}

/** The definition of a page. */
export interface PageDefinition {
  readonly kind: "page";
  readonly href: Href;
  readonly path: string;
  readonly options: PageOptions;
  readonly run: (params: Record<string, string | undefined>) => PageResult | Promise<PageResult>;
  readonly source: PageSource;
}

const definitions = new WeakMap<object, PageDefinition>();

/** Returns the definition of a page, or `undefined` if the value is not a page. */
export function pageOf(value: unknown): PageDefinition | undefined {
  return typeof value === "object" && value !== null ? definitions.get(value) : undefined;
}

/**
 * Declares a page, which is rendered on the server for every GET request of its path. The result must be exported as a
 * const of a `*.server.tsx` module that is listed in `new App({ modules })`.
 *
 * @param path starts with a slash and may have parameters: `/users/:id`, `/docs/**:rest`
 * @param fn receives the decoded parameters and may be async. It returns markup or a `redirect`, and may throw a
 *   `redirect`, `NotFound` or an `RPCError`.
 * @throws Error if the module was not compiled, or if the path, a policy or a header is invalid
 * @throws TypeError for an unknown option, and for a layout or a last argument that is no function
 * @see docs/protocol.md 11.1 to 11.3
 * @example export const home = page("/", { title: "Home" }, () => <h1>Hello</h1>);
 */
export function page<const Path extends string>(path: Path, fn: PageFunction<Path>): Page<Path>;
/** Declares a page with options: a title, a language, a layout or security headers, see {@link PageOptions}. */
export function page<const Path extends string>(path: Path, options: PageOptions, fn: PageFunction<Path>): Page<Path>;
export function page(path: string, ...args: readonly unknown[]): Page {
  const [first, second, source] = args;
  const [options, run] = typeof first === "function" ? [{}, first] : [first, second];
  if (typeof source !== "object" || source === null) {
    throw new Error(
      "page() was called in a module that tsweb has not compiled. Run the application with `tsweb dev` or " +
        '`tsweb build`, a script with `node --import tsweb/register`, and tests with the plugin of "tsweb/vite".',
    );
  }
  if (!path.startsWith("/") || path.startsWith("//")) {
    throw new Error(
      `page(): Invalid path ${JSON.stringify(path)}. It must start with one slash, for example "/users".`,
    );
  }
  const location = `page(${JSON.stringify(path)})`;
  if (typeof run !== "function") throw new TypeError(notFunctionMessage(location, run === undefined ? first : run));
  rejectUnknownOptions(options, OPTIONS, location);
  checkSecurityOptions(options, location);
  checkLayout((options as PageOptions).layout, location);
  checkCache((options as PageOptions).cache, location);
  checkStatic(path, options, location);
  checkLaterTimeout((options as PageOptions).later_timeout, location);
  checkPrefetch(options, location);
  const href = createHref(path);
  const exported: Page = Object.freeze({ path, href });
  // The overloads check the types of the options and the function; the compiler adds the source.
  definitions.set(exported, {
    kind: "page",
    href,
    path,
    options,
    run: run as PageDefinition["run"],
    source: source as PageSource,
  });
  return exported;
}

/** @throws TypeError for options of a static page that do not fit its path, or each other */
function checkStatic(path: string, options: { readonly [K in keyof PageOptions]: unknown }, location: string): void {
  const { static: isStatic, params, cache } = options;
  if (isStatic === undefined) {
    if (params !== undefined)
      throw new TypeError(`${location}: params is an option of static pages. Add static: true.`);
    return;
  }
  if (isStatic !== true && isStatic !== "public") {
    throw new TypeError(`${location}: static is ${JSON.stringify(isStatic)}. It must be true or "public".`);
  }
  if (cache !== undefined) throw new TypeError(`${location}: a static page needs no cache. Remove one of the options.`);
  const hasParameters = /[:*(]/.test(path);
  if (hasParameters && typeof params !== "function") {
    throw new TypeError(
      `${location}: a static page whose path has parameters needs the option params: a function that returns them, such as ` +
        '() => [{ id: "1" }].',
    );
  }
  if (!hasParameters && params !== undefined)
    throw new TypeError(`${location}: params has no effect: the path has no parameters.`);
}

const YEAR_SECONDS = 31_536_000;

/** @throws TypeError or RangeError for a value that the option `cache` cannot have */
function checkCache(cache: unknown, location: string): void {
  if (cache === undefined) return;
  if (typeof cache !== "object" || cache === null) {
    throw new TypeError(`${location}: cache is ${String(cache)}. Write { seconds: 60 }.`);
  }
  rejectUnknownOptions(cache, CACHE_OPTIONS, `cache of ${location}`);
  const { seconds, query = [] }: { readonly seconds?: unknown; readonly query?: unknown } = cache;
  if (!Number.isInteger(seconds) || Number(seconds) < 1 || Number(seconds) > YEAR_SECONDS) {
    throw new RangeError(
      `${location}: cache.seconds is ${String(seconds)}. It must be a whole number of seconds from 1 to ${YEAR_SECONDS}.`,
    );
  }
  if (Array.isArray(query) && query.every((name) => typeof name === "string" && name !== "")) return;
  throw new TypeError(`${location}: cache.query must be a list of names of query parameters, such as ["sort"].`);
}

/** The highest time limit of parts, in seconds: proxies end a response in which nothing is sent for a minute. */
const MAX_LATER_SECONDS = 60;

function checkLaterTimeout(seconds: unknown, location: string): void {
  if (seconds === undefined || (typeof seconds === "number" && seconds > 0 && seconds <= MAX_LATER_SECONDS)) return;
  throw new RangeError(
    `${location}: later_timeout is ${String(seconds)}. It must be a number of seconds above 0 and at most ${MAX_LATER_SECONDS}.`,
  );
}

/** @throws TypeError for a value that would have no effect */
function checkPrefetch(options: object, location: string): void {
  const { prefetch }: { readonly prefetch?: unknown } = options;
  if (prefetch === undefined || prefetch === false) return;
  throw new TypeError(
    `${location}: prefetch is ${JSON.stringify(prefetch)}. Only false is an option of a page; new App has "hover" and "press".`,
  );
}

function notFunctionMessage(location: string, received: unknown): string {
  const isMarkup = isValidElement(received);
  const is = isMarkup ? "markup" : received == null ? String(received) : `of type ${typeof received}`;
  const fix = isMarkup ? "Write `() =>` before the markup" : "Write `() => <main>…</main>`";
  return `${location}: the last argument must be a function that returns markup, and it is ${is}. ${fix}.`;
}
