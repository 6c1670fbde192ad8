/** The maximum length of a file's name, in UTF-16 code units: that of most file systems. */
export const MAX_FILE_NAME_CHARS = 255;

/** How browsers write the characters that cannot be in a quoted name. @see https://html.spec.whatwg.org/#multipart-form-data */
const ENCODED = /%(22|0D|0A)/gi;

/** Control characters, U+0000 included. */
const CONTROL = /\p{Cc}/gu;

/**
 * Returns the name of an uploaded file as the application receives it: what the client claims, without any folder and
 * without control characters, at most {@link MAX_FILE_NAME_CHARS} long. It may be empty. It is never `.` or `..`.
 *
 * It must not be used as a path all the same: two files can have one name, and some names are special on Windows.
 */
export function cleanFileName(claimed: string): string {
  const decoded = decodeName(claimed).replace(CONTROL, "");
  const name = decoded.slice(Math.max(decoded.lastIndexOf("/"), decoded.lastIndexOf("\\")) + 1);
  return name === "." || name === ".." ? "" : shorten(name);
}

/**
 * Returns the name of a field or a file, decoded as browsers encode it in a multipart header.
 *
 * The result has no unpaired surrogates, which a part with another character set than UTF-8 may contain: functions such
 * as `encodeURIComponent` throw for them.
 */
export function decodeName(text: string): string {
  return text.replace(ENCODED, (encoded) => decodeURIComponent(encoded)).toWellFormed();
}

/** Shortens the middle of the name: its extension stays. Never leaves half of a surrogate pair. */
function shorten(name: string): string {
  if (name.length <= MAX_FILE_NAME_CHARS) return name;
  const extension = /\.[^.]{1,16}$/.exec(name)?.[0] ?? "";
  const kept = name.slice(0, MAX_FILE_NAME_CHARS - extension.length).replace(/[\uD800-\uDBFF]$/, "");
  return kept + extension;
}
