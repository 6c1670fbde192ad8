import { compareRoutes } from "rou3";
import type { PrefetchedPages, RequestContext } from "../http/index.ts";
import type { PageDefinition, RouteDefinition } from "../pages/index.ts";
import { formatHref } from "../protocol/index.ts";
import { clientKey, concurrencyLimit } from "../rate-limit/index.ts";
import { pageTag } from "../session/index.ts";
import type { Router } from "./router.ts";
import { type GeneratedFile, generateFile } from "./static-files.ts";

/** How many pages a client may prefetch at once. Chromium prefetches two for a document, and an office has one address. */
const MAX_PER_CLIENT = 16;

/** How long a browser may show a page after it was prefetched, in milliseconds: Chromium 5 minutes, and some for the way. */
const SHOWN_MS = 330_000;

/** How many clients are remembered. */
const MAX_CLIENTS = 10_000;

/** Whether a client has pages that it may still show, and until when. */
interface Mark {
  readonly isHeld: boolean;
  readonly untilMs: number;
}

/** The options of {@link Prefetches}. */
export interface PrefetchesOptions {
  /** Whether other processes may have served the prefetches of a client. */
  readonly hasOtherProcesses: () => boolean;
  /** The current time in milliseconds. Default: `performance.now`. */
  readonly now?: () => number;
}

/**
 * Remembers which clients have prefetched pages, so that the response to a call clears them, and only the first one: each such
 * response prints a line in the console of the browser. A mark in the browser is not possible: a cookie that changes makes Chromium
 * drop the pages that it keeps for Back.
 *
 * A client is its sign-in, and without one its address, which others may share: then each call clears.
 */
export class Prefetches implements PrefetchedPages {
  readonly #hasOtherProcesses: () => boolean;
  readonly #now: () => number;
  readonly #inFlight = concurrencyLimit(MAX_PER_CLIENT);
  readonly #marks = new Map<string, Mark>();
  /** Until when an unknown client may hold pages: of the process before this one, or from before it was forgotten. */
  #unknownUntilMs: number;

  constructor({ hasOtherProcesses, now = () => performance.now() }: PrefetchesOptions) {
    this.#hasOtherProcesses = hasOtherProcesses;
    this.#now = now;
    this.#unknownUntilMs = now() + SHOWN_MS;
  }

  /** The number of clients that are remembered. */
  get size(): number {
    return this.#marks.size;
  }

  /** Counts a prefetch of a client, and returns what ends it; `null` if the client has too many. */
  acquire(address: string): (() => void) | null {
    return this.#inFlight.acquire(address);
  }

  /** Remembers that a client receives a prefetched page. */
  served(context: RequestContext): void {
    if (!this.#hasOtherProcesses()) this.#mark(keyOf(context), { isHeld: true, untilMs: this.#now() + SHOWN_MS });
  }

  /** Returns whether a client may hold prefetched pages. If it is signed in, it is known not to hold them afterwards. Errs towards yes. */
  take(context: RequestContext): boolean {
    if (this.#hasOtherProcesses() || this.#inFlight.has(context.address)) return true;
    const now = this.#now();
    const key = keyOf(context);
    const mark = this.#marks.get(key);
    const isKnown = mark !== undefined && mark.untilMs > now;
    const isHeld = isKnown ? mark.isHeld : this.#unknownUntilMs > now;
    if (isHeld && !isAddress(key)) this.#mark(key, { isHeld: false, untilMs: now + SHOWN_MS });
    return isHeld;
  }

  #mark(key: string, mark: Mark): void {
    this.#marks.delete(key);
    this.#marks.set(key, mark); // at the end
    if (this.#marks.size <= MAX_CLIENTS) return;
    const [oldest, { isHeld, untilMs }] = this.#marks.entries().next().value ?? [key, mark];
    this.#marks.delete(oldest);
    if (isHeld) this.#unknownUntilMs = Math.max(this.#unknownUntilMs, untilMs);
  }
}

/** Returns the tag of the client's sign-in, or `@` and its address. */
function keyOf(context: RequestContext): string {
  return pageTag(context) ?? `@${clientKey(context.address)}`;
}

function isAddress(key: string): boolean {
  return key.startsWith("@");
}

/** When browsers prefetch: the eagerness of the rules, by the option `prefetch` of `new App`. */
const EAGERNESS = { hover: "moderate", press: "conservative" } as const;

/** What the rules are made of. */
export interface SpeculationInput {
  readonly pages: readonly Pick<PageDefinition, "path" | "options">[];
  readonly routes: readonly Pick<RouteDefinition, "method" | "path">[];
  /** Returns the page or route of a path without the base. */
  readonly router: Router;
  /** The base of the application. */
  readonly base: string;
  /** The paths of the files of the build, without the base. */
  readonly files: readonly string[];
  readonly when: keyof typeof EAGERNESS;
}

/**
 * Returns the speculation rules of an application: which links of its documents browsers may prefetch. Links to pages are, except
 * those that a route for GET, a file, or a page with `prefetch: false` may answer, and those with `rel="nofollow"`, `target`,
 * `download` or a reserved parameter. When unsure whether another one answers, a link is not prefetched.
 *
 * They contain the paths of pages and routes, and are public.
 *
 * @returns `null` if there is no page to prefetch
 * @see https://html.spec.whatwg.org/#speculative-loading, and docs/protocol.md 11.10
 */
export function createSpeculationRules(input: SpeculationInput): GeneratedFile | null {
  const links = linksOf(input);
  if (links.length === 0) return null;
  const where = { and: [links.length === 1 ? links[0] : { or: links }, ...EXCLUDED] };
  const json = JSON.stringify({ prefetch: [{ source: "document", where, eagerness: EAGERNESS[input.when] }] });
  return generateFile("speculation", "json", { type: "application/speculationrules+json", text: json });
}

/** What is never prefetched, besides links to other origins, which no pattern of a path matches. */
const EXCLUDED = [
  { not: { href_matches: ["__*", "*&__*"].map((search) => ({ pathname: "/*", search })) } }, // reserved parameters
  { not: { selector_matches: '[download],[rel~="nofollow" i],[target]:not([target="_self" i])' } },
];

/** The paths of files of the build, and those of tsweb. */
const OWN_PATHS = ["/assets/:file+", "/__web/:path+"];

/** Returns the predicates of the pages, one for all pages with the same exceptions. */
function linksOf({ pages, routes, router, base, files }: SpeculationInput): object[] {
  const leftOut = [
    ...pages.filter(({ options }) => options.prefetch === false),
    ...routes.filter(({ method }) => method === "GET"),
  ];
  const others = [...leftOut.map(({ path }) => path), ...OWN_PATHS];
  const groups = new Map<string, { readonly patterns: object[]; readonly exceptions: object[] }>();
  for (const page of pages) {
    if (page.options.prefetch === false) continue;
    const exceptions = [
      ...others.filter((other) => mayAnswer(other, page.path, router)),
      ...publicFiles(files).filter((file) => isOf(router("GET", file), page.path)),
    ].map((path) => ({ pathname: urlPattern(base, path) }));
    const key = JSON.stringify(exceptions);
    const group = groups.get(key) ?? { patterns: [], exceptions };
    group.patterns.push({ pathname: urlPattern(base, page.path) });
    groups.set(key, group);
  }
  return [...groups.values()].map(({ patterns, exceptions }) => {
    const pages = { href_matches: patterns };
    return exceptions.length === 0 ? pages : { and: [pages, { not: { href_matches: exceptions } }] };
  });
}

/** Files outside of `assets/`, of the folder `public`: links may lead to them, and a file precedes a page. */
function publicFiles(files: readonly string[]): string[] {
  return files.filter((file) => !file.startsWith("/assets/")).map(encodeURI);
}

/**
 * Returns whether another page or route answers some requests that the pattern of a page matches. Errs towards yes: one whose
 * pattern matches more than that of the page, such as `/**`, does not, unless the router disagrees.
 */
function mayAnswer(other: string, page: string, router: Router): boolean {
  switch (compareRoutes(other, page)) {
    case "disjoint":
      return false;
    case "superset":
      return samplePaths(page).some((path) => isOf(router("GET", path), other));
    default:
      return true;
  }
}

function isOf(match: ReturnType<Router>, path: string): boolean {
  if (match?.kind === "page") return match.page.path === path;
  return match?.kind === "route" && match.route.path === path;
}

/** Returns paths that a pattern matches: with all of its parameters, and with those that it requires. */
function samplePaths(pattern: string): string[] {
  const optional = new Set([...pattern.matchAll(/:(\w+)(?:\([^)]*\))?[?*]/g)].map(([, name]) => name));
  const isRequired = (name: string) => !optional.has(name) && !/^\d/.test(name);
  const paramsWith = (isSet: (name: string) => boolean) =>
    new Proxy<Record<string, string>>({}, { get: (_, name) => (isSet(String(name)) ? "x" : undefined) });
  return [
    formatHref(
      "",
      pattern,
      paramsWith(() => true),
    ),
    formatHref("", pattern, paramsWith(isRequired)),
  ];
}

/**
 * Returns the pathname of a `URLPattern` that matches what the router matches, with the base. The two differ in `**`, in a `*` at
 * the end, which the router takes for optional, and in the slash of the base.
 */
export function urlPattern(base: string, path: string): string {
  if (path === "/" && base !== "") return `${base}{/}?`;
  const replace = (pattern: string, part: RegExp, replacement: string) =>
    pattern.replace(new RegExp(`\\\\.|${part.source}`, "g"), (match) =>
      match.startsWith("\\") ? match : match.replace(part, replacement),
    );
  const rest = replace(path, /\*\*:(\w+)/, ":$1+");
  return base + replace(replace(rest, /\/\*\*?(?=\/|$)/, "{/*}?"), /\*\*/, "*");
}
