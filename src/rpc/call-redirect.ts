import { type HandlerResponse, jsonResponse, type RedirectTarget, redirectTarget } from "../http/index.ts";
import { REDIRECT_HEADER } from "../protocol/index.ts";

/**
 * Returns the response of a call whose function returned or threw a redirect, and `null` for every other value. The
 * response is no HTTP redirect, because `fetch` would follow it and return the page. The stub opens the URL.
 *
 * @param base the application's base
 * @see docs/protocol.md 3.5
 */
export function callRedirect(value: unknown, base: string): HandlerResponse | null {
  const target = redirectTarget(value, base);
  return target && jsonResponse(200, '{"result":null}', redirectHeader(target));
}

/** Returns the header that makes the stub open the target of a redirect. */
export function redirectHeader({ location }: RedirectTarget): Readonly<Record<string, string>> {
  return { [REDIRECT_HEADER]: location };
}
