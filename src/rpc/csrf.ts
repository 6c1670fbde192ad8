import { CLOSE, Refusal, type Reply, type RequestContext } from "../http/index.ts";
import { CSRF_HEADER } from "../protocol/index.ts";
import { issueCsrfToken, sessionId, verifyCsrfToken } from "../session/index.ts";
import type { Definition } from "./server.ts";

/**
 * Refuses a call of an `auth_required` function that does not carry the CSRF token, where
 * `WEB_CSRF_SECRET` asks for one. The refusal brings a fresh one: the page may be older than the
 * sign-in, if that happened in another tab. A page of another site gets here neither with its origin
 * nor to read the answer.
 *
 * @throws Refusal `forbidden`
 */
export function refuseWithoutToken(context: RequestContext, { options }: Definition): void {
  if (!options.auth_required || !context.config.csrfSecret) return;
  if (verifyCsrfToken(context, context.inbound.header(CSRF_HEADER))) return;
  throw new Refusal("forbidden", "The page is older than your sign-in. Reload it and try again.", {
    headers: { ...freshToken(context), ...CLOSE },
  });
}

/** What a call does to the sign-in, from here on. */
export interface SignInWatch {
  /** Puts a fresh token on the answer of a call that signed the visitor in or out. */
  withFreshToken(reply: Reply): Reply;
}

/** Watches whether a call changes the sign-in: the token of the page that made it is then of no more use. */
export function watchSignIn(context: RequestContext): SignInWatch {
  if (!context.config.csrfSecret) return { withFreshToken: (reply) => reply };
  const before = sessionId(context);
  return {
    withFreshToken(reply) {
      // A 403 that carries a token is called again: so is only the refusal of a token, which ran nothing.
      if (reply.status === 403 || sessionId(context) === before) return reply;
      return { ...reply, headers: { ...reply.headers, ...freshToken(context) } };
    },
  };
}

function freshToken(context: RequestContext): Readonly<Record<string, string>> {
  const token = issueCsrfToken(context);
  return token === null ? {} : { [CSRF_HEADER]: token };
}
