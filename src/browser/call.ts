import { type Arguments, CSRF_HEADER, CSRF_META, callError, JSON_TYPE, RPC_PREFIX } from "../protocol/index.ts";
import { getPageData } from "./page-data.ts";

let token = document.querySelector<HTMLMetaElement>(`meta[name="${CSRF_META}"]`)?.content;

/**
 * Sends a call and returns the response, regardless of its status.
 *
 * The call carries the page's CSRF token. If the response is 403 and carries a fresh token, another tab has signed
 * in since the page was loaded: the call is sent once more, with the fresh token.
 *
 * @throws RPCError `internal` if the server is unreachable
 * @see docs/protocol.md 8.4
 */
export async function post(name: string, args: Arguments, signal?: AbortSignal, isRetry?: boolean): Promise<Response> {
  const headers: Record<string, string> = { "content-type": JSON_TYPE };
  if (token) headers[CSRF_HEADER] = token;
  const response = await fetch(getPageData().base + RPC_PREFIX + name, {
    method: "POST",
    headers,
    body: JSON.stringify({ args }),
    signal: signal as AbortSignal, // fetch accepts undefined, its type does not
  }).catch((cause) => {
    throw callError(`${name}: server unreachable`, cause);
  });
  const freshToken = response.headers.get(CSRF_HEADER);
  if (freshToken) token = freshToken;
  return response.status === 403 && freshToken && !isRetry ? post(name, args, signal, true) : response;
}
