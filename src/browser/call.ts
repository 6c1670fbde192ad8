import {
  type Arguments,
  CSRF_HEADER,
  CSRF_META_SELECTOR,
  callError,
  checkArguments,
  JSON_TYPE,
  REDIRECT_HEADER,
  RPC_PREFIX,
} from "../protocol/index.ts";
import { getPageData } from "./page-data.ts";

/** The CSRF token of the page. */
export let token = document.querySelector<HTMLMetaElement>(CSRF_META_SELECTOR)?.content;

/**
 * Sends a call and returns the response, regardless of its status.
 *
 * The call carries the page's CSRF token. If the response is 403 and carries a fresh token, another tab has signed
 * in since the page was loaded: the call is sent once more, with the fresh token.
 *
 * If the function redirected, the browser opens the URL. The promise is resolved as usual: a page that is restored by
 * "Back" would otherwise still wait.
 *
 * @param send sends the request; by default with `fetch`, as a call. A form passes a function of its own
 * @throws RPCError `internal` if the server is unreachable
 * @throws TypeError for an argument that would not arrive as it is
 * @see docs/protocol.md 3.5, 3.8 and 8.4
 */
export async function post(
  name: string,
  args: Arguments,
  signal?: AbortSignal,
  send: (url: string, init: RequestInit) => Promise<Response> = fetch,
  isRetry?: boolean,
): Promise<Response> {
  // Bundlers remove the longer messages from production.
  if (process.env.NODE_ENV !== "production") checkArguments(name, args, false);
  const headers: Record<string, string> = { "content-type": JSON_TYPE };
  if (token) headers[CSRF_HEADER] = token;
  const response = await send(getPageData().base + RPC_PREFIX + name, {
    method: "POST",
    headers,
    body: JSON.stringify({ args }, (key, value) => {
      // The tags of classes for which JSON has `{}`. `checkArguments` has refused more, with the path and the fix.
      if (/t (Map|Set|FormData|File|Blob|Promise)]/.test({}.toString.call(value))) {
        throw new TypeError(`${name}: cannot send ${key}`);
      }
      return value;
    }),
    signal: signal as AbortSignal, // fetch accepts undefined, its type does not
  }).catch((cause) => {
    throw callError(`${name}: server unreachable`, cause);
  });
  const freshToken = response.headers.get(CSRF_HEADER);
  const url = response.headers.get(REDIRECT_HEADER) ?? "";
  // A URL of another scheme runs code or opens another program.
  if (/^(\/|https?:)/.test(url)) {
    location.assign(url);
    // A fragment of the page itself is reached without a request.
    if (location.href === location.origin + url) location.reload();
  }
  if (!freshToken) return response;
  token = freshToken;
  return response.status === 403 && !isRetry ? post(name, args, signal, send, true) : response;
}
