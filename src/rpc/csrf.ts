import { CONNECTION_CLOSE, type HandlerResponse, type RequestContext, RequestError } from "../http/index.ts";
import { CSRF_HEADER } from "../protocol/index.ts";
import { issueCsrfToken, sessionId, verifyCsrfToken } from "../session/index.ts";
import type { FunctionDefinition } from "./server.ts";

/**
 * Throws if a call of an `auth_required` function does not carry a valid CSRF token. Without `WEB_CSRF_SECRET`
 * nothing is checked, and neither with a bearer token, which browsers never attach by themselves. A refused one does not get here.
 *
 * The error response carries a fresh token, because the page may be older than the sign-in if the user signed in in
 * another tab. This does not help an attacker: cross-origin pages fail the origin check and cannot read the token.
 *
 * @param token the token of the request: by default that of the header, in a form that of the first field
 * @throws RequestError `forbidden`
 * @see docs/protocol.md 8.4
 */
export function requireCsrfToken(
  context: RequestContext,
  { options }: FunctionDefinition,
  token: unknown = context.inbound.header(CSRF_HEADER),
): void {
  if (!options.auth_required || !context.config.csrfSecret || context.isBearer) return;
  if (verifyCsrfToken(context, token)) return;
  throw new RequestError("forbidden", "The page is older than your sign-in. Reload it and try again.", {
    headers: { ...freshToken(context), ...CONNECTION_CLOSE },
  });
}

/** The state of the sign-in before a call. */
export interface SignInTracker {
  /** Returns the response with a fresh token, if the call has changed who is signed in. */
  withFreshToken(response: HandlerResponse): HandlerResponse;
}

/** Tracks whether a call changes who is signed in, because the token of the calling page is invalid after that. */
export function trackSignIn(context: RequestContext): SignInTracker {
  if (!context.config.csrfSecret || context.isBearer) return { withFreshToken: (response) => response };
  const idBefore = sessionId(context);
  return {
    withFreshToken(response) {
      // Clients repeat a call that failed with 403 and a token. Only the missing token may cause this, not a 403 of
      // the function, which has run already.
      if (response.status === 403 || sessionId(context) === idBefore) return response;
      return { ...response, headers: { ...response.headers, ...freshToken(context) } };
    },
  };
}

function freshToken(context: RequestContext): Readonly<Record<string, string>> {
  const token = issueCsrfToken(context);
  return token === null ? {} : { [CSRF_HEADER]: token };
}
