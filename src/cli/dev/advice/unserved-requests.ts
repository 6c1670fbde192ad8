import type { EventEmitter } from "node:events";
import type { InboundRequest, Redirect } from "../../../http/index.ts";
import { closestName } from "../../../text/index.ts";
import type { ErrorLog } from "../../errors/index.ts";
import { findStyleSheetUrls, lineAt, readSourceFiles, styleSheetUrlFix, withoutComments } from "../../modules/index.ts";
import { relativeFile } from "../../project/index.ts";
import { exportName, unservedFileAdvice } from "./unloaded-pages.ts";

/** What the application serves. */
export interface ServedParts extends ServedPaths {
  /** The folder of the files that are served as they are; empty without one. */
  readonly publicDir: string;
}

/** The origin with which paths are parsed. */
const SITE = "http://site.invalid";

/** The number of redirects that are remembered between two edits. */
const MAX_REDIRECTS = 200;

/**
 * How often a request is redirected to its own URL before it is reported. Browsers give up after about 20 times. A page
 * may do it once, after it has created what it shows.
 */
const LOOP_COUNT = 3;

/**
 * Prints which line of the source leads to an address where nothing is served, and how to fix it, each line once until the
 * next edit: the redirect to it, the attribute of a file that is not served, the `url(…)` of a style sheet, or the URL of a script, a link
 * or a form. Also
 * prints which redirect leads to its own URL.
 */
export class UnservedRequests {
  readonly #errors: ErrorLog;
  readonly #write: (text: string) => void;
  readonly #printed = new Set<string>();
  /** The errors that name the code of redirects, by path. */
  readonly #redirects = new Map<string, Error>();
  /** How often a request was redirected to its own URL, by the location of the redirect. */
  readonly #loops = new Map<string, number>();

  /**
   * @param edits emits `all` for each edit
   * @param errors prints the redirects
   * @param write writes a text to the terminal
   */
  constructor(edits: EventEmitter, errors: ErrorLog, write: (text: string) => void) {
    this.#errors = errors;
    this.#write = write;
    edits.on("all", () => {
      this.#printed.clear();
      this.#redirects.clear();
      this.#loops.clear();
    });
  }

  /** Remembers which code redirects to a path of the application. Called by that code. */
  redirectCreated({ location, internal }: Redirect): void {
    const { pathname } = new URL(location, SITE);
    if (!internal || (this.#redirects.size >= MAX_REDIRECTS && !this.#redirects.has(pathname))) return;
    this.#redirects.set(pathname, new Error(`redirect(${JSON.stringify(location)}) leads to`));
  }

  /** Prints a redirect that has led to its own URL several times: the browser shows only that there are too many. */
  redirectedToItself({ location }: Redirect): void {
    const count = (this.#loops.get(location) ?? 0) + 1;
    if (count > LOOP_COUNT || (this.#loops.size >= MAX_REDIRECTS && count === 1)) return;
    this.#loops.set(location, count);
    if (count < LOOP_COUNT) return;
    const { pathname } = new URL(location, SITE);
    const error = new Error(
      `redirect(${JSON.stringify(location)}) answers a request of ${pathname} itself, so the browser is redirected until it ` +
        `gives up. Redirect only from other paths: in \`before\`, test \`path !== ${JSON.stringify(pathname)}\` first.`,
    );
    error.stack = this.#redirects.get(pathname)?.stack ?? "";
    this.#errors.print(error);
  }

  /**
   * Prints the hint about a request, if there is one.
   *
   * @param allow the methods that its path has, if it has any
   */
  async report(
    inbound: Pick<InboundRequest, "method" | "pathname" | "origin" | "header">,
    served: ServedParts,
    allow?: string,
  ): Promise<void> {
    const { method, pathname, origin } = inbound;
    const redirect = pathname.startsWith(served.base)
      ? this.#redirects.get(pathname.slice(served.base.length))
      : undefined;
    if (redirect && method === "GET") return this.#printRedirect(redirect, pathname, served, allow);
    const referer = inbound.header("referer") ?? undefined;
    const destination = inbound.header("sec-fetch-dest") ?? undefined;
    const request = { method, pathname, origin, referer, destination, allow };
    const advice =
      (await unservedFileAdvice(request, served)) ??
      (allow === undefined ? await styleSheetAdvice(request, served) : undefined) ??
      (await unservedUrlAdvice(request, served));
    if (advice === undefined || this.#printed.has(advice)) return;
    this.#printed.add(advice);
    this.#write(advice);
  }

  async #printRedirect({ message, stack = "" }: Error, pathname: string, served: ServedParts, allow?: string) {
    const problem =
      allow === undefined ? "an address where nothing is served." : `an address that allows only ${allow}.`;
    const advice =
      (allow === undefined ? await existingPageAdvice(pathname, served) : undefined) ??
      "Redirect to the path of a page, or declare a page with this path.";
    const error = new Error(`${message} ${problem} ${advice}`);
    error.stack = stack;
    this.#errors.print(error);
  }
}

/** Returns which style sheet refers to a requested path, and how to serve the file; `undefined` if none certainly does. */
async function styleSheetAdvice(
  { method, pathname, destination }: { method: string; pathname: string; destination: string | undefined },
  served: ServedParts,
): Promise<string | undefined> {
  if (method !== "GET" || !/^(?:image|font|style|empty)$/.test(destination ?? "empty")) return undefined;
  const isRequested = (url: string) =>
    /^\/(?!\/)/.test(url) && URL.canParse(url, SITE) && new URL(url, SITE).pathname === pathname;
  const [found] = await findStyleSheetUrls(served.root, isRequested);
  if (!found) return undefined;
  return `${found.location} requests ${found.url}, where nothing is served. ${styleSheetUrlFix(found, served)}`;
}

/** A request for which there is no page or route. */
interface UnservedRequest {
  readonly method: string;
  readonly pathname: string;
  /** The origin that the request names as its own: `http://localhost:3000`. */
  readonly origin: string;
  /** The URL of the page that has sent it; `undefined` if unknown. */
  readonly referer: string | undefined;
  /** The header `Sec-Fetch-Dest`: `empty` for scripts, `document` for links and forms; `undefined` without it. */
  readonly destination: string | undefined;
  /** The methods that the path has, if it has any: `GET, HEAD`. */
  readonly allow: string | undefined;
}

/** What is served in place of the request. */
interface ServedPaths {
  readonly root: string;
  /** The path below which the application is served; empty for the root. */
  readonly base: string;
  /** The paths of its pages and routes, without the base. */
  readonly paths: readonly string[];
  /** Returns why a path has no page although a module declares one; `undefined` if none does. */
  readonly adviseUnloadedPage: (path: string) => Promise<string | undefined>;
}

const TEXT = /(?<quote>["'`])(?<url>(?:(?!\k<quote>)[^\n])+)\k<quote>(?<more>\s*\+)?/.source;

/** What scripts request: the argument of a call, written as text. */
const CALL = new RegExp(
  `\\b(?:fetch|EventSource|sendBeacon|axios(?:\\.\\w+)?|ky(?:\\.\\w+)?)(?:<[^()\\n]*>)?\\(\\s*${TEXT}`,
  "g",
);
/** What links and forms request. */
const ATTRIBUTE = new RegExp(`\\b(?<attribute>href|action|formAction)=\\{?\\s*${TEXT}`, "g");
/** A path in a text that is no attribute, such as one that is passed to `fetch` later. */
const LITERAL = /(?<!\w=\{?)(?<quote>["'`])(?<url>\/[^"'`\s$]+)\k<quote>/g;

/** A text in the source that is the URL of a request. */
interface Match {
  readonly location: string;
  /** The URL with its quotes, as it is written. */
  readonly text: string;
  /** The path of the URL, with parameters in place of expressions: `/api/guests/:id`. */
  readonly path: string;
  readonly isCall: boolean;
}

/**
 * Returns which line of the source has requested an address where nothing is served, and how to serve it; `undefined` if no
 * line certainly has.
 *
 * A request only selects among the URLs in the source: the text contains nothing else of it, apart from a well-known method.
 */
async function unservedUrlAdvice(request: UnservedRequest, served: ServedPaths): Promise<string | undefined> {
  const { method, allow } = request;
  if (!/^(?:GET|HEAD|POST|PUT|PATCH|DELETE)$/.test(method)) return undefined;
  const match = await findUrl(request, served.root);
  if (!match) return undefined;
  const verb = match.isCall || method !== "GET" ? "requests" : "links to";
  const subject = `${match.location} ${verb} ${match.text}${method === "GET" ? "" : ` with ${method}`}`;
  const handler = handlerAdvice(match, method, served);
  if (allow !== undefined) return `${subject}, and this address allows ${allow}. ${handler}`;
  const advice = (await existingPageAdvice(request.pathname, served)) ?? handler;
  return `${subject}, where nothing is served. ${advice}`;
}

/** Finds the text that is the URL of a request: one that is exactly its URL before one with expressions. */
async function findUrl(request: UnservedRequest, root: string): Promise<Match | undefined> {
  const { destination = "empty" } = request;
  const patterns = destination === "empty" ? [CALL, LITERAL] : destination === "document" ? [ATTRIBUTE] : [];
  const sources = (await readSourceFiles(root)).map(({ file, text }) => ({ file, code: withoutComments(text) }));
  const matches = patterns.flatMap((pattern) =>
    sources.flatMap(({ file, code }) =>
      [...code.matchAll(pattern)].flatMap(({ index, groups }) => {
        const { quote = "", url = "", more } = groups ?? {};
        const isTemplate = quote === "`" && url.includes("${");
        const path = pathOf((isTemplate ? withParameters(url) : url) + (more === undefined ? "" : ":id"), request);
        if (path === undefined || !matchesPath(path, request.pathname)) return [];
        const location = `${relativeFile(root, file)}:${lineAt(code, index)}`;
        return [{ location, text: `${quote}${url}${quote}`, path, isCall: destination === "empty" }];
      }),
    ),
  );
  return matches.find(({ path }) => !path.includes(":")) ?? matches[0];
}

/** Replaces the expressions in a template by parameters: `${user.id}` by `:id`. */
function withParameters(url: string): string {
  return url.replace(/\$\{(?:[^}]*?\.)?(?<name>\w+)?[^}]*\}/g, (_, name = "id") => `:${name}`);
}

/** Returns the path of a URL in the source, resolved as in the page that has sent the request; `undefined` for another origin. */
function pathOf(url: string, { origin, referer }: UnservedRequest): string | undefined {
  if (/^[#?:]/.test(url)) return undefined; // the same page, or an unknown start
  const page = url.startsWith("/") ? origin : referer;
  const target = URL.canParse(url) ? new URL(url) : page && URL.canParse(url, page) ? new URL(url, page) : undefined;
  return target?.origin === origin ? target.pathname : undefined;
}

/** Returns whether a path with parameters is that of a request. */
function matchesPath(pattern: string, pathname: string): boolean {
  const parts = pattern.split(/:\w+/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join("[^/]+")}$`).test(pathname);
}

/** Returns which existing page or route a path, with the base, probably means; `undefined` if none certainly is. */
async function existingPageAdvice(pathname: string, served: ServedPaths): Promise<string | undefined> {
  const { base, paths } = served;
  const isBelowBase = pathname === base || pathname.startsWith(`${base}/`);
  const path = isBelowBase ? pathname.slice(base.length) || "/" : pathname;
  const unloaded = await served.adviseUnloadedPage(path);
  if (unloaded !== undefined) return unloaded;
  const closest = closestName(path, paths);
  if (closest !== undefined) return `Did you mean "${base}${closest}"?`;
  return isBelowBase ? undefined : `The application is served below ${base}, so its paths start with "${base}/".`;
}

/** Returns how to declare what receives the request. */
function handlerAdvice({ isCall, path: requested }: Match, method: string, { base }: ServedPaths): string {
  const path = requested.slice(base.length);
  const name = exportName(path);
  if (isCall) {
    return (
      `Declare a route, \`export const ${name} = route("${method} ${path}", async (request) => …)\`, or call a server ` +
      "function: browsers import it from a module whose name ends with .server.ts."
    );
  }
  if (method === "GET") return `Declare a page, \`export const ${name} = page("${path}", () => …)\`.`;
  return `Write a server function as the action of the form, \`<form action={save}>\`, or declare \`route("${method} ${path}", …)\`.`;
}
