import type { EventEmitter } from "node:events";
import type { InboundRequest, Redirect } from "../../http/index.ts";
import type { ErrorLog } from "../errors/index.ts";
import { findStyleSheetUrls, styleSheetUrlFix } from "../modules/index.ts";
import { unservedFileAdvice } from "./unserved-files.ts";
import { existingPageAdvice, type ServedPaths, unservedUrlAdvice } from "./unserved-urls.ts";

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
