/**
 * Answers whether an application can mean a request's path. Refused are broken percent-encoding, a
 * NUL or another control character, a backslash (which some systems take for a slash), `..` behind
 * an encoding, and `//`, which at the front of a redirect would name another host.
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
 * Answers whether a request's target, as it was sent, is the address that it is read as. Not so with `.` and
 * `..` between its slashes, a backslash, which the reader takes for a slash, and a `#`, which ends it: to a
 * proxy or a guard in front, `/x/../admin` may be another path than `/admin`. No browser sends these.
 *
 * @see RFC 3986, section 6.2.2.3; the URL standard, "path state"
 */
export function isUnambiguousTarget(target: string): boolean {
  const end = target.indexOf("?");
  const path = end === -1 ? target : target.slice(0, end);
  return !/[\\#]|\/(?:\.|%2e){1,2}(?:\/|$)/i.test(path);
}

/** Gives the path below the application's base, or `null` when it is not below it. */
export function pathBelowBase(pathname: string, base: string): string | null {
  if (base === "") return pathname;
  if (pathname === base) return "/";
  return pathname.startsWith(`${base}/`) ? pathname.slice(base.length) : null;
}
