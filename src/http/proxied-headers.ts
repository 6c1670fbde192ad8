/** What a server says of its own connection, and of no other. @see RFC 9110, section 7.6.1 */
const OF_THE_CONNECTION = ["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"];

/** Codings that `fetch` takes off the body, on every platform that asks for them. */
const DECODED: ReadonlySet<string> = new Set(["br", "deflate", "gzip", "x-gzip"]);

/**
 * Gives the headers that a route's answer is sent with: its own; but of an answer that another server gave
 * (`fetch`), without what is true of that server's connection alone.
 *
 * `fetch` gives the body decoded and leaves the headers as they came. Its length is then another than they say:
 * the visitor could read nothing of it, and what goes beyond that length would be taken for the next answer.
 */
export function proxiedHeaders({ url, headers, body }: Response): Headers {
  const own = new Headers(headers);
  if (url === "") return own; // it was made here, and not fetched
  for (const name of OF_THE_CONNECTION) own.delete(name);
  const codings = own.get("content-encoding")?.split(",") ?? [];
  if (body === null || codings.length === 0 || !codings.every(isDecoded)) return own;
  own.delete("content-encoding");
  own.delete("content-length");
  return own;
}

function isDecoded(coding: string): boolean {
  return DECODED.has(coding.trim().toLowerCase());
}
