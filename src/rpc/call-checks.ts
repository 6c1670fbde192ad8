/**
 * The checks that a call or a form passes before its body is read. Each of them throws the error that the caller receives.
 *
 * @see docs/protocol.md 3.2, and 3.9 for pages that belong to another build than the server
 */
import { isJsonType, requireIdentityEncoding } from "../bodies/index.ts";
import {
  CONNECTION_CLOSE,
  type HandlerResponse,
  type InboundRequest,
  type RequestContext,
  RequestError,
} from "../http/index.ts";
import type { AppLog } from "../logging/index.ts";
import {
  BUILD_HEADER,
  BUILD_VERSION,
  CSRF_HEADER,
  FORM_PREFIX,
  JSON_TYPE,
  type Signature,
  type StaleSide,
} from "../protocol/index.ts";
import { issueCsrfToken, sessionId, verifyCsrfToken } from "../session/index.ts";
import { type FunctionDefinition, isAllowed, unauthenticatedError } from "./server.ts";

/**
 * Throws unless the method is POST. The details of the error describe the function's parameters: remote clients request
 * them by GET, because they have only types, which do not exist at run time.
 *
 * @throws RequestError `validation_error`, status 405
 * @see docs/protocol.md 3.4
 */
export function requirePost({ method }: InboundRequest, definition: FunctionDefinition | undefined): void {
  if (method === "POST") return;
  throw new RequestError("validation_error", `Method ${method} is not allowed: call a server function with POST.`, {
    status: 405,
    headers: { allow: "POST", ...CONNECTION_CLOSE },
    details: definition ? describeSignature(definition.signature) : {},
  });
}

function describeSignature({ params, keyed, stream }: Signature): Readonly<Record<string, unknown>> {
  return {
    parameters: params.map((parameter) => parameter.name),
    ...(keyed ? { keyed } : {}),
    ...(stream ? { stream } : {}),
  };
}

const IS_FORM = /^(multipart\/form-data|application\/x-www-form-urlencoded)\s*(;|$)/i;

/**
 * Throws unless the content type is `application/json`, without an encoding. An HTML form cannot send this type, so a cross-origin page
 * needs a script, which the browser subjects to CORS.
 *
 * @param name the name of the function in the path of the request, percent-encoded
 * @throws RequestError `validation_error`, status 415
 */
export function requireJson(inbound: InboundRequest, name: string): void {
  if (isJsonType(inbound)) {
    requireIdentityEncoding(inbound);
    return;
  }
  const fix = IS_FORM.test(inbound.header("content-type") ?? "") ? ` Send a form to ${FORM_PREFIX}${name}.` : "";
  throw new RequestError("validation_error", `The content type of a call must be ${JSON_TYPE}.${fix}`, {
    status: 415,
    headers: CONNECTION_CLOSE,
  });
}

/**
 * Returns the function of a call.
 *
 * @param match the function; `undefined` if there is none of the name
 * @param version what the page has sent of its build, as for {@link requireSameSignature}
 * @throws RequestError `not_found` if there is none, or `conflict` if the page of the call belongs to another build
 */
export function requireFunction(
  match: FunctionDefinition | undefined,
  version: string | null | undefined,
  settings: BuildSettings,
): FunctionDefinition {
  if (match) return match;
  requireSameSignature(match, version, settings);
  throw new RequestError("not_found", "There is no server function with this name.", { headers: CONNECTION_CLOSE });
}

/**
 * Throws if the function requires a signed-in user and the client is not signed in, so that the body of its request is not
 * read. Directly before the function runs, that is decided again.
 *
 * @throws RequestError `unauthenticated`
 */
export function requireSignIn(definition: FunctionDefinition): void {
  if (isAllowed(definition.options)) return;
  const { code, message } = unauthenticatedError();
  throw new RequestError(code, message, { headers: CONNECTION_CLOSE });
}

/** The build of an application, for the check of calls. */
export interface BuildSettings {
  /** The id of the server's build; `null` in an application that was not built: it checks nothing. */
  readonly build: string | null;
  readonly log: AppLog;
  /** Returns how many live connections of pages of earlier builds are open, for the log. */
  connectionsBefore(build: string): number;
}

const MESSAGES: Readonly<Record<StaleSide, string>> = {
  page: "This page was opened before the site was updated. Reload the page and try again.",
  server: "The site is being updated. Try again in a few seconds.",
};

const LOG_MESSAGES: Readonly<Record<StaleSide, string>> = {
  page: "A page of an earlier build called a function that has changed or is gone; the page reloads",
  server: "A page of a later build called a function that has changed or is missing here; the page tries again",
};

/**
 * Throws if a call comes from a page of another build, and its function is gone or has another signature in this one.
 * Nothing has run then, and no argument was read. A call without a version, as other clients send it, passes.
 *
 * @param definition the function; `undefined` if there is none of the name
 * @param version what the page has sent: the id of its build, and the hash of the signature
 * @throws RequestError `conflict`, whose `details.stale` is the side of the older build. Its header has the server's build
 */
export function requireSameSignature(
  definition: FunctionDefinition | undefined,
  version: string | null | undefined,
  { build, log, connectionsBefore }: BuildSettings,
): void {
  if (build === null || !version || (definition && version.endsWith(definition.signature.hash ?? ""))) return;
  const pageBuild = BUILD_VERSION.exec(version)?.[1];
  if (pageBuild === undefined) return; // a header of another program
  const stale = staleSide(pageBuild, build);
  // The name of a function that is gone is not logged: a client may have chosen it.
  const fields = { name: definition?.signature.name ?? null, live_connections: connectionsBefore(build) };
  log.refused(`stale_${stale}`, fields, LOG_MESSAGES[stale]);
  throw new RequestError("conflict", MESSAGES[stale], {
    headers: { [BUILD_HEADER]: build, ...CONNECTION_CLOSE },
    details: { stale },
  });
}

/** Returns whether an error is one of {@link requireSameSignature}, and not one of the application with such details. */
export function isStaleError(error: unknown): error is RequestError {
  return error instanceof RequestError && error.headers[BUILD_HEADER] !== undefined;
}

/** Returns which side is of the older build. With the same id, which no page of the build sends, it is the page. */
function staleSide(pageBuild: string, serverBuild: string): StaleSide {
  return pageBuild > serverBuild ? "server" : "page";
}

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
interface SignInTracker {
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
