/** The name of a download without a usable name of its own. */
const DEFAULT_NAME = "download";

/**
 * Returns the value of `Content-Disposition` for a file that the browser saves or shows under any Unicode name.
 *
 * A name outside ASCII is sent twice: encoded for all browsers of today (RFC 8187), and with `_` in place of what ASCII
 * lacks for all others. Folders and control characters are removed, so that the name cannot add a header or a path.
 *
 * @see RFC 6266, appendix D
 */
export function contentDisposition(type: "attachment" | "inline", name: string): string {
  const clean = cleanName(name);
  const ascii = clean.replace(/[^\x20-\x7e]|["\\%]/gu, "_");
  const plain = `${type}; filename="${ascii}"`;
  return ascii === clean ? plain : `${plain}; filename*=UTF-8''${encodeValue(clean)}`;
}

function cleanName(name: string): string {
  const last = name.slice(Math.max(name.lastIndexOf("/"), name.lastIndexOf("\\")) + 1);
  const clean = last.replace(/\p{Cc}|\p{Surrogate}/gu, "");
  return clean === "" || clean === "." || clean === ".." ? DEFAULT_NAME : clean;
}

/** Encodes everything but `attr-char`. @see RFC 8187, section 3.2.1 */
function encodeValue(text: string): string {
  return encodeURIComponent(text).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
