/**
 * Answers whether an application can mean a request's path. Refused are broken percent-encoding, a
 * NUL or another control character, a backslash (which some systems take for a slash), `..` behind
 * an encoding, and `//`, which at the front of a redirect would name another host.
 */
export function isUsablePath(pathname: string): boolean {
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

/** Gives the path below the application's base, or `null` when it is not below it. */
export function belowBase(pathname: string, base: string): string | null {
  if (base === "") return pathname;
  if (pathname === base) return "/";
  return pathname.startsWith(`${base}/`) ? pathname.slice(base.length) : null;
}
