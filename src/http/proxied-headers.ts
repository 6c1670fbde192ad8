/** Headers that apply to one connection only and must not be forwarded. @see RFC 9110, section 7.6.1 */
const HOP_BY_HOP_HEADERS = ["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"];

/** The content codings that `fetch` decodes on every platform that accepts them. */
const DECODED_CODINGS: ReadonlySet<string> = new Set(["br", "deflate", "gzip", "x-gzip"]);

/**
 * Returns the headers to send with a route's response, as a new object.
 *
 * A response that was created here keeps all of its headers. From a response that a route fetched from another server
 * and proxies, two kinds are removed:
 *
 * - hop-by-hop headers, which describe the connection to that server;
 * - `Content-Encoding` and `Content-Length`, if `fetch` has decoded the body but left these headers unchanged. With
 *   the wrong length, the client could not read the body, and the rest of it could be parsed as the next response on
 *   the connection (response splitting).
 *
 * When unsure, the headers stay: they are removed only if every coding is one that `fetch` decodes.
 *
 * @see docs/protocol.md 11.4
 */
export function proxiedHeaders({ url, headers, body }: Response): Headers {
  const proxied = new Headers(headers);
  const isFetched = url !== ""; // the Fetch standard sets `url` on responses of `fetch` only
  if (!isFetched) return proxied;
  for (const name of HOP_BY_HOP_HEADERS) proxied.delete(name);
  const codings = proxied.get("content-encoding")?.split(",") ?? [];
  if (body === null || codings.length === 0 || !codings.every(isDecodedByFetch)) return proxied;
  proxied.delete("content-encoding");
  proxied.delete("content-length");
  return proxied;
}

function isDecodedByFetch(coding: string): boolean {
  return DECODED_CODINGS.has(coding.trim().toLowerCase());
}
