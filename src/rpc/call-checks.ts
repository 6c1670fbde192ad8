/**
 * The checks that a call passes before its body is read. Each of them throws the error that the caller receives.
 *
 * @see docs/protocol.md 3.2
 */

import { requireIdentityEncoding } from "../bodies/index.ts";
import { CONNECTION_CLOSE, type InboundRequest, RequestError } from "../http/index.ts";
import { FORM_PREFIX, JSON_TYPE, type Signature } from "../protocol/index.ts";
import { retryAdvice } from "../rate-limit/index.ts";
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

const IS_JSON = new RegExp(`^${JSON_TYPE}\\s*(;|$)`, "i");

const IS_FORM = /^(multipart\/form-data|application\/x-www-form-urlencoded)\s*(;|$)/i;

/**
 * Throws unless the content type is `application/json`, without an encoding. An HTML form cannot send this type, so a cross-origin page
 * needs a script, which the browser subjects to CORS.
 *
 * @param name the name of the function in the path of the request, percent-encoded
 * @throws RequestError `validation_error`, status 415
 */
export function requireJson(inbound: InboundRequest, name: string): void {
  const type = inbound.header("content-type") ?? "";
  if (type === JSON_TYPE || IS_JSON.test(type)) {
    requireIdentityEncoding(inbound);
    return;
  }
  const fix = IS_FORM.test(type) ? ` Send a form to ${FORM_PREFIX}${name}.` : "";
  throw new RequestError("validation_error", `The content type of a call must be ${JSON_TYPE}.${fix}`, {
    status: 415,
    headers: CONNECTION_CLOSE,
  });
}

/**
 * Throws if the client has exceeded its rate.
 *
 * @param waitSeconds seconds until the client may call again; 0 if it may call now
 * @throws RequestError `rate_limited`, with `details.retry_after`
 */
export function requireRateLeft(waitSeconds: number): void {
  if (waitSeconds === 0) return;
  const { sentence, details } = retryAdvice(waitSeconds);
  throw new RequestError("rate_limited", `Too many calls. ${sentence}`, {
    headers: CONNECTION_CLOSE,
    details,
  });
}

/**
 * Returns the definition of the function.
 *
 * @throws RequestError `not_found` if there is none
 */
export function requireFunction(definition: FunctionDefinition | undefined): FunctionDefinition {
  if (definition) return definition;
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
