import { type Arguments, CSRF_HEADER, failure, RPC_PREFIX } from "../protocol/index.ts";
import { pageData } from "./page-data.ts";

let token = document.querySelector<HTMLMetaElement>('meta[name="csrf-token"]')?.content;

/**
 * Sends a call and gives the response, whatever its status.
 *
 * The CSRF token of the page goes with the call. A refusal that brings a fresh one is tried once
 * more with it: another tab signed in since.
 *
 * @throws RPCError `internal` when the server cannot be reached
 */
export async function post(name: string, args: Arguments, signal?: AbortSignal): Promise<Response> {
  const body = JSON.stringify({ args });
  for (let last = false; ; last = true) {
    const headers: Record<string, string> = { "content-type": "application/json" };
    if (token) headers[CSRF_HEADER] = token;
    // To fetch `undefined` is no signal; its type knows `null` alone.
    const init: RequestInit = { method: "POST", headers, body, signal: signal as AbortSignal };
    const response = await fetch(`${pageData.base}${RPC_PREFIX}${name}`, init).catch((cause) => {
      throw failure(`${name}: the server could not be reached`, cause);
    });
    const fresh = response.headers.get(CSRF_HEADER);
    token = fresh || token;
    if (response.status !== 403 || !fresh || last) return response;
  }
}
