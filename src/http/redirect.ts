import { parseUrl } from "../protocol/index.ts";
import { currentContext } from "./context-storage.ts";
import { ContextKey } from "./context-values.ts";
import { pathBelowBase } from "./request-url.ts";

/** What links and redirects know of the application of the request. */
export interface LinkedSite {
  readonly base: string;
  /** Returns whether the application has a page, or a route for GET, at a path without the base. */
  serves(path: string): boolean;
}

export const LINKED_SITE = new ContextKey<LinkedSite>();

/** Receives each redirect when it is created; set by a development server, for its process. */
let onCreated: ((redirect: Redirect) => void) | undefined;

/** Calls a function with each redirect of this process when it is created, in the code that creates it. */
export function observeRedirects(listener: ((redirect: Redirect) => void) | undefined): void {
  onCreated = listener;
}

/**
 * A redirect: the result, or the thrown value, of a page, a layout, a route, a server function or `before`.
 */
export class Redirect {
  /** A path of this site without the application's base, or the URL of another site. It contains ASCII only. */
  readonly location: string;
  /** Whether the location is a path of this site; the application's base is then prepended. */
  readonly internal: boolean;

  constructor(location: string, internal: boolean) {
    this.location = location;
    this.internal = internal;
    onCreated?.(this);
  }

  /** What a `catch` sees that has caught a thrown redirect, and how to redirect in spite of it. */
  get message(): string {
    return (
      `redirect(${JSON.stringify(this.location)}) was caught and has no effect. Write \`return redirect(…)\`, which no catch ` +
      "receives, or throw it outside of the try block."
    );
  }

  /** Returns {@link message}, so that `"Failed: " + error` shows it. */
  toString(): string {
    return this.message;
  }

  /**
   * Throws: only a whole result redirects. Inside of a result, in a message or in the props of a view, a redirect would be
   * sent as an object without effect. The type is that of the whole result: the caller of a function that redirects
   * receives `null`.
   */
  toJSON(): null {
    throw new Error(
      `redirect(${JSON.stringify(this.location)}) is inside a value that is sent, so it has no effect. Return it as the ` +
        "whole result of the function, or throw it.",
    );
  }
}

/** What a redirect decides about the response. */
export interface RedirectTarget {
  /** The URL for the client: a path of this site, with the application's base, or an absolute http or https URL. */
  readonly location: string;
  /** Whether the URL is one of another site. */
  readonly isExternal: boolean;
}

/**
 * Returns the target of a returned or thrown redirect, and `null` for every other value. All handlers use it: pages,
 * routes, calls and `before` differ only in the response that they make of the target.
 *
 * @param base the application's base, which is prepended to paths of this site
 * @see docs/protocol.md 3.5 and 11.2
 */
export function redirectTarget(value: Redirect, base: string): RedirectTarget;
export function redirectTarget(value: unknown, base: string): RedirectTarget | null;
export function redirectTarget(value: unknown, base: string): RedirectTarget | null {
  if (!(value instanceof Redirect)) return null;
  const { location, internal } = value;
  return { location: internal ? base + location : location, isExternal: !internal };
}

/** The options of {@link redirect}. */
export interface RedirectOptions {
  /** Whether `path` is an absolute URL of another site, `https://…` or `http://…`. */
  readonly external?: boolean;
  /** The path to use if `path` is not a path of this site. */
  readonly or?: string;
}

/**
 * Returns a redirect to another path of this site. Return or throw it in a page, a layout, a route or a server function.
 * Cookies and the sign-in that were set before are kept.
 *
 * A `try` block around a thrown redirect catches it: return it there, or throw it outside of the block.
 *
 * A page and a route respond with status 303. The stub of a server function opens the path in the browser.
 *
 * `redirect(board.href({ id }))` works too: the base in a link is not added again, unless the application has a page at that path
 * below its base, and none at the path without it.
 *
 * A URL outside the site throws (500), which prevents open redirects. For a path from user input, pass a fallback:
 * `redirect(next, { or: "/" })`.
 *
 * @param path a path of this site, without the application's base
 * @param options `or`: the path to use if `path` is not a path of this site. `external: true`: `path` is an absolute
 *   URL of another site, `https://…` or `http://…`
 * @throws TypeError if the path is not a path of this site (`//host`, `/\host`, a line break) and there is no `or`, or
 *   if an external URL is not http or https
 * @see docs/protocol.md 11.2
 * @example if (!session.user()) throw redirect("/sign-in");
 * @example if (session.user()) return redirect(request.query.next, { or: "/" });
 */
export function redirect(path: string, options?: RedirectOptions): Redirect;
/** Returns a redirect to a path from user input, which may be missing, or to the fallback `or`. */
export function redirect(path: string | undefined, options: { readonly or: string }): Redirect;
export function redirect(path: string | undefined, { external, or }: RedirectOptions = {}): Redirect {
  if (external) return redirectToOtherSite(path);
  if (!isSitePath(path)) {
    if (or !== undefined) return redirect(or);
    throw new TypeError(
      `redirect(): ${JSON.stringify(path)} is not a path of this site. It must start with one slash. ` +
        'For a path from user input, pass a fallback: { or: "/" }. For another site, pass { external: true }.',
    );
  }
  const url = new URL(path, "http://site.invalid");
  return new Redirect(withoutBase(url.pathname) + url.search + url.hash, true);
}

/** Removes the base, which a link of `href` has. */
function withoutBase(pathname: string): string {
  const site = currentContext()?.get(LINKED_SITE);
  const below = site?.base ? pathBelowBase(pathname, site.base) : null;
  if (!site || below === null) return pathname;
  return site.serves(pathname) && !site.serves(below) ? pathname : below;
}

function redirectToOtherSite(text: string | undefined): Redirect {
  const url = text === undefined ? null : parseUrl(text);
  if (url?.protocol === "https:" || url?.protocol === "http:") return new Redirect(url.href, false);
  throw new TypeError(
    `redirect(): ${JSON.stringify(text)} is not an absolute http or https URL. Pass one with { external: true }, or a ` +
      "path of this site without it.",
  );
}

/**
 * Returns whether a browser stays on this site when it follows a path. `false` when unsure.
 *
 * Browsers remove tabs and line breaks from URLs and treat a backslash as a slash, so `/\host` and `/<tab>/host` are
 * URLs of another host. `/..//host` is one after normalisation.
 */
export function isSitePath(path: unknown): path is string {
  if (typeof path !== "string" || !/^\/(?![/\\])/.test(path)) return false;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern is to match control characters
  if (/[\u0000-\u001f\u007f\\]/.test(path) || !URL.canParse(path, "http://site.invalid")) return false;
  const url = new URL(path, "http://site.invalid");
  return url.origin === "http://site.invalid" && !url.pathname.startsWith("//");
}
