/**
 * Returns whether a path can be routed. Invalid paths are:
 *
 * - broken percent-encoding;
 * - a control character, such as NUL, that some systems treat as the end of a path;
 * - a backslash, which some systems treat as a slash;
 * - a percent-encoded `.` or `..` segment, which could lead outside a directory (path traversal);
 * - `//`, which would name another host at the start of a redirect's `Location`.
 *
 * When unsure, the path is refused.
 *
 * @param pathname the path as `URL.pathname` has it, percent-encoded
 * @see docs/protocol.md 2.2
 */
export function isValidPath(pathname: string): boolean {
  if (pathname.includes("//")) return false;
  if (!pathname.includes("%") && !pathname.includes("\\")) return true;
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
