import { RPCError } from "../errors.ts";

/** The result of a page function that redirects. Created by {@link redirect}. */
export class Redirect {
  /** The value of the `Location` header. */
  readonly location: string;
  /** Whether the location is a path of this site; the application's base is then prepended. */
  readonly internal: boolean;

  constructor(location: string, internal: boolean) {
    this.location = location;
    this.internal = internal;
  }
}

/**
 * Returns a redirect to another path of this site (status 303).
 *
 * A URL outside the site throws (500), which prevents open redirects. For a path from user input, pass a fallback:
 * `redirect(next, { or: "/" })`.
 *
 * @param options `or`: the path to use if `path` is not a path of this site. `external: true`: `path` is an absolute
 *   URL of another site, `https://…` or `http://…`
 * @throws TypeError if the path is not a path of this site (`//host`, `/\host`, a line break) and there is no `or`, or
 *   if an external URL is not http or https
 * @see docs/protocol.md 11.2
 * @example if (!session.user()) return redirect("/");
 * @example if (session.user()) return redirect(request.query.next ?? "/", { or: "/" });
 */
export function redirect(path: string, options: { readonly external?: boolean; readonly or?: string } = {}): Redirect {
  if (options.external) {
    const url = URL.canParse(path) ? new URL(path) : null;
    if (url?.protocol !== "https:" && url?.protocol !== "http:") {
      throw new TypeError(
        `redirect(): ${JSON.stringify(path)} is not an absolute http or https URL. Pass one with { external: true }, or a ` +
          "path of this site without it.",
      );
    }
    return new Redirect(url.href, false);
  }
  if (!isSitePath(path)) {
    if (options.or !== undefined) return redirect(options.or);
    throw new TypeError(
      `redirect(): ${JSON.stringify(path)} is not a path of this site. It must start with one slash. ` +
        'For a path from user input, pass a fallback: { or: "/" }. For another site, pass { external: true }.',
    );
  }
  const url = new URL(path, "http://site.invalid");
  return new Redirect(url.pathname + url.search + url.hash, true);
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

/**
 * An error for an item that does not exist. A page that throws it responds with 404; the caller of a server function
 * receives the `RPCError` `not_found`.
 *
 * @param message shown to the user. Default: `There is nothing here.`
 * @example if (!article) throw new NotFound("This article does not exist.");
 */
export class NotFound extends RPCError {
  constructor(message = "There is nothing here.") {
    super("not_found", message);
  }
}
