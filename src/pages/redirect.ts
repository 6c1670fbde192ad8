import { RPCError } from "../errors.ts";

/** A page's answer that sends the visitor elsewhere. Made by {@link redirect}. */
export class Redirect {
  /** The `Location`, ready for a header. */
  readonly location: string;
  /** Whether the location is a path of this site, below the application's base. */
  readonly internal: boolean;

  constructor(location: string, internal: boolean) {
    this.location = location;
    this.internal = internal;
  }
}

/**
 * Sends the visitor to another path of this site (HTTP 303).
 *
 * A path that came from a visitor is safe to pass: what would leave the site is refused.
 *
 * @param options `{ or: "/" }`: where to instead, when the path is not one of this site;
 *   `{ external: true }` for another site, with the whole `https://…` or `http://…`
 * @throws TypeError for a path that is not one of this site (`//host`, `/\host`, a line break), where `or` says
 *   nothing better, or an external address that is not http or https
 * @example if (!session.user()) return redirect("/");
 * @example if (session.user()) return redirect(request.query.next ?? "/", { or: "/" });
 */
export function redirect(path: string, options: { readonly external?: boolean; readonly or?: string } = {}): Redirect {
  if (options.external) {
    const url = URL.canParse(path) ? new URL(path) : null;
    if (url?.protocol !== "https:" && url?.protocol !== "http:") {
      throw new TypeError(`redirect: ${JSON.stringify(path)} is not an http or https address.`);
    }
    return new Redirect(url.href, false);
  }
  if (!isSitePath(path)) {
    if (options.or !== undefined) return redirect(options.or);
    throw new TypeError(
      `redirect: ${JSON.stringify(path)} is not a path of this site. It must start with one slash; ` +
        'for one that a visitor chose say where to instead, { or: "/" }, and for another site { external: true }.',
    );
  }
  const url = new URL(path, "http://site.invalid");
  return new Redirect(url.pathname + url.search + url.hash, true);
}

/**
 * Answers whether a browser would stay on this site with a path.
 *
 * Browsers drop tabs and line breaks from addresses and take a backslash for a slash, so `/\host`
 * and `/<tab>/host` name another host; and `/..//host` does once it is normalised.
 */
export function isSitePath(path: unknown): path is string {
  if (typeof path !== "string" || !/^\/(?![/\\])/.test(path)) return false;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  if (/[\u0000-\u001f\u007f\\]/.test(path) || !URL.canParse(path, "http://site.invalid")) return false;
  const url = new URL(path, "http://site.invalid");
  return url.origin === "http://site.invalid" && !url.pathname.startsWith("//");
}

/**
 * Says that there is nothing here: thrown in a page it answers 404, in a server function it is the
 * `RPCError` `not_found`.
 */
export class NotFound extends RPCError {
  constructor(message = "There is nothing here.") {
    super("not_found", message);
  }
}
