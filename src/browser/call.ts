import {
  type Arguments,
  BUILD_HEADER,
  CSRF_HEADER,
  CSRF_META_SELECTOR,
  callError,
  checkArguments,
  JSON_TYPE,
  REDIRECT_HEADER,
  RPC_PREFIX,
} from "../protocol/index.ts";
import { checkMisuse } from "./dev/misuse.ts";
import { landing } from "./landing.ts";
import { getPageData } from "./page-data.ts";
import { reload } from "./reload.ts";
import { LEAVING_MS, MAX_STALE_RETRIES, STALE_RETRY_MS } from "./timings.ts";

/** The CSRF token of the page. */
export let token = document.querySelector<HTMLMetaElement>(CSRF_META_SELECTOR)?.content;

/** Resolves when an error can be shown again: the page was about to be left, but is still there. */
export let leaving: Promise<unknown> | undefined;

function noteLeaving(): void {
  leaving = new Promise((resolve) => setTimeout(resolve, LEAVING_MS));
}

/**
 * Sends a call and returns the response, regardless of its status.
 *
 * The call carries the page's CSRF token. If the response is 403 and carries a fresh token, another tab has signed
 * in since the page was loaded: the call is sent once more, with the fresh token.
 *
 * If the response carries the build of the server, the function has not run, because it differs between the two builds.
 * A server of an older build is being replaced, so the call is sent again for 10 seconds. After that, and if the page is
 * of the older build, the page is reloaded.
 *
 * If the function redirected, the browser opens the URL. The promise is resolved as usual: a page that is restored by
 * "Back" would otherwise still wait.
 *
 * @param hash the hash of the function's signature; absent in development
 * @param send sends the request; by default with `fetch`, as a call. A form passes a function of its own
 * @param wait is called with the response, unless it is a redirect, and may delay the result. It is that of the moment of the call, as `no_wait` sets it
 * @throws RPCError `internal` if the server is unreachable
 * @throws TypeError for an argument that would not arrive as it is
 * @see docs/protocol.md 3.5, 3.8, 3.9 and 8.4
 */
export async function post(
  name: string,
  args: Arguments,
  signal?: AbortSignal,
  hash?: string,
  send: (url: string, init: RequestInit) => Promise<Response> = fetch,
  wait = landing.wait,
): Promise<Response> {
  // Bundlers remove the longer messages from production.
  if (process.env.NODE_ENV !== "production") checkMisuse(() => checkArguments(name, args, false));
  const headers: Record<string, string> = { "content-type": JSON_TYPE };
  const body = JSON.stringify({ args }, (key, value) => {
    // The tags of classes for which JSON has `{}`. `checkArguments` has refused more, with the path and the fix.
    if (/t (Map|Set|FormData|File|Blob|Promise)]/.test({}.toString.call(value))) {
      throw new TypeError(`${name}: cannot send ${key}`);
    }
    return value;
  });
  const { base, build = "" } = getPageData();
  if (hash) headers[BUILD_HEADER] = `${build}.${hash}`;
  addEventListener("beforeunload", noteLeaving); // the same listener is added once
  let retries = 0;
  let hasNewToken: boolean | undefined;
  for (;;) {
    if (token) headers[CSRF_HEADER] = token;
    const response = await send(base + RPC_PREFIX + name, {
      method: "POST",
      headers,
      body,
      signal: signal as AbortSignal, // fetch accepts undefined, its type does not
    }).catch(async (cause) => {
      await leaving;
      throw callError(`${name}: server unreachable`, cause);
    });
    const freshToken = response.headers.get(CSRF_HEADER);
    const serverBuild = response.headers.get(BUILD_HEADER);
    const url = response.headers.get(REDIRECT_HEADER) ?? "";
    // A URL of another scheme runs code or opens another program.
    if (/^(\/|https?:)/.test(url)) {
      location.assign(url);
      // A fragment of the page itself is reached without a request.
      if (location.href === location.origin + url) location.reload();
    }
    if (freshToken) token = freshToken;
    if (serverBuild) {
      if (serverBuild > build || ++retries > MAX_STALE_RETRIES) {
        reload();
        return response;
      }
      await new Promise((resolve) => setTimeout(resolve, STALE_RETRY_MS));
    } else if (freshToken && response.status === 403 && !hasNewToken) hasNewToken = true;
    else {
      if (!url) await wait?.(response); // the page is about to be left
      return response;
    }
  }
}
