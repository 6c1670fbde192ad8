import { FORM_PARAMETER, FORM_PREFIX, RPC_PREFIX, WHOLE_PARAMETER } from "../protocol/index.ts";

/**
 * Returns whether a path can be routed. Invalid paths are:
 *
 * - broken percent-encoding;
 * - a control character, such as NUL, that some systems treat as the end of a path;
 * - a backslash, which some systems treat as a slash;
 * - a percent-encoded `.` or `..` segment, which could lead outside a directory (path traversal);
 * - `//`, which would name another host at the start of a redirect's `Location`;
 * - a segment that begins with a percent-encoded slash: its parameter would be an absolute path, like that of `//`;
 * - a percent-encoded character that needs no encoding, see {@link hasNeedlessEncoding}.
 *
 * When unsure, the path is refused.
 *
 * @param pathname the path as `URL.pathname` has it, percent-encoded
 * @see docs/protocol.md 2.2
 */
export function isValidPath(pathname: string): boolean {
  if (pathname.includes("//")) return false;
  if (!pathname.includes("%") && !pathname.includes("\\")) return true;
  if (hasNeedlessEncoding(pathname) || /\/%2f/i.test(pathname)) return false;
  let decoded: string;
  try {
    decoded = decodeURIComponent(pathname);
  } catch {
    return false;
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  return !/[\u0000-\u001f\u007f\\]/.test(decoded) && !/(^|\/)\.\.?(\/|$)/.test(decoded);
}

/**
 * Returns whether a path contains a percent-encoded letter, digit, `-`, `.`, `_` or `~`.
 *
 * `/%61dmin` and `/admin` name the same page to a server that decodes them, and different pages to a proxy or a guard
 * that compares texts: its rule for `/admin` would be bypassed. No browser and no client library encodes these characters.
 *
 * @see docs/protocol.md 2.2
 * @see RFC 3986, section 2.3: "should not be created by URI producers"
 */
export function hasNeedlessEncoding(pathname: string): boolean {
  return NEEDLESS_ENCODING.test(pathname);
}

const NEEDLESS_ENCODING = /%(?:2[de]|3\d|4[1-9a-f]|5[0-9af]|6[1-9a-f]|7[0-9ae])/i;

/**
 * Returns the path without needless percent-encoding, if that is all that makes it invalid; otherwise `null`. The client is
 * redirected to it, so that the rules of a proxy apply to the path that is served.
 *
 * @see RFC 3986, section 6.2.2.2
 */
export function canonicalPath(pathname: string): string | null {
  const path = pathname.replace(new RegExp(NEEDLESS_ENCODING, "gi"), decodeURIComponent);
  return path !== pathname && isValidPath(path) && isUnambiguousTarget(path) ? path : null;
}

/**
 * Returns whether the URL parser leaves the path of a request target as it was sent.
 *
 * The parser resolves `.` and `..` segments, treats a backslash as a slash, and cuts the path at `#`. A proxy or a
 * guard in front may not: to it, `/x/../admin` is another path than `/admin`, and its access rule would be bypassed.
 * No browser sends such targets.
 *
 * @param target the request target as received, with its query
 * @see docs/protocol.md 2.2
 * @see RFC 3986, section 6.2.2.3; URL standard, "path state"
 */
export function isUnambiguousTarget(target: string): boolean {
  const end = target.indexOf("?");
  const path = end === -1 ? target : target.slice(0, end);
  return !/[\\#]|\/(?:\.|%2e){1,2}(?:\/|$)/i.test(path);
}

/** Returns the path below the application's base path, or `null` if it is not below it. @see docs/protocol.md 2.1 */
export function pathBelowBase(pathname: string, base: string): string | null {
  if (base === "") return pathname;
  if (pathname === base) return "/";
  return pathname.startsWith(`${base}/`) ? pathname.slice(base.length) : null;
}

/**
 * Returns whether a path is that of a call, or of a form that a script sends: below `/__web/rpc/` or `/__web/form/` of the
 * application's base.
 *
 * @param pathname the path without the query
 * @param base the application's base path; `null` if it is not known, which recognises calls below any base
 * @see docs/protocol.md 2.1
 */
export function isCallPath(pathname: string, base: string | null): boolean {
  if (base === null) return pathname.includes(RPC_PREFIX) || pathname.includes(FORM_PREFIX);
  const path = pathBelowBase(pathname, base);
  return path !== null && (path.startsWith(RPC_PREFIX) || path.startsWith(FORM_PREFIX));
}

/**
 * Returns whether the value of a `Host` header is a host, with or without a port, and nothing else.
 *
 * Runtimes join the header and the path to a URL. With `Host: a/admin?`, the client would choose another path than the
 * one that a proxy or a guard in front has seen; with `Host: user@b`, another host.
 *
 * When unsure, the host is refused: only ASCII letters, digits and `.-_:[]` are accepted, and the URL parser must
 * accept the whole.
 *
 * @see docs/protocol.md 2.2
 * @see RFC 9110, section 7.2
 */
export function isValidHost(host: string): boolean {
  return /^[A-Za-z0-9.:[\]_-]{1,260}$/.test(host) && URL.canParse(`http://${host}`);
}

// A cache of one entry with the lifetime of the process. Most servers are reached under one host name, and parsing an
// origin costs as much as all other checks of a call together.
let cachedPrefix = "";
let cachedOrigin = "";

/** Returns the origin of a URL. The last result is cached. */
export function originOf({ href }: URL): string {
  const prefix = href.slice(0, href.indexOf("/", "https://".length));
  if (prefix !== cachedPrefix) {
    cachedOrigin = new URL(prefix).origin;
    cachedPrefix = prefix;
  }
  return cachedOrigin;
}

/** The query parameters of tsweb. Pages never see them. */
const RESERVED_PARAMETERS = [FORM_PARAMETER, WHOLE_PARAMETER];

/**
 * Returns the URL without the parameters of tsweb: the one that names the function of a form, and the one that requests a page
 * with its parts. Pages never see them: their links and redirects would send the form again.
 *
 * A parameter is recognized by its decoded name, as the server reads it. If `?%5F%5Fform=<other>` were kept, it would
 * precede the page's own parameter in the addresses of its forms, and a link could choose the function that they call.
 * Other parameters stay as they were written.
 *
 * @see docs/protocol.md 15.1
 */
export function withoutReservedParameters(url: URL): URL {
  if (!RESERVED_PARAMETERS.some((name) => hasParameter(url, name))) return url;
  const result = new URL(url);
  const others = url.search
    .slice(1)
    .split("&")
    .filter((part) => part !== "" && !isReserved(part));
  result.search = others.join("&");
  return result;
}

/** Returns the value of the parameter that names the function of a form: the first one, decoded; `null` without one. */
export function formParameter(url: URL): string | null {
  return hasParameter(url, FORM_PARAMETER) ? url.searchParams.get(FORM_PARAMETER) : null;
}

/** Returns whether a page is requested with its parts in place. */
export function hasWholeParameter(url: URL): boolean {
  return hasParameter(url, WHOLE_PARAMETER);
}

/** Parsing the parameters is avoided for most queries, because this runs for every request of a page. */
function hasParameter(url: URL, name: string): boolean {
  return (url.search.includes(name) || url.search.includes("%")) && url.searchParams.has(name);
}

/** Returns whether a part of a query is a reserved parameter. `URLSearchParams` removes one leading `?`. */
function isReserved(part: string): boolean {
  const parameters = new URLSearchParams(`?${part}`);
  return RESERVED_PARAMETERS.some((name) => parameters.has(name));
}
