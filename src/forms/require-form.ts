/**
 * The checks that a form passes before its function is looked up. Each of them throws the error of the response.
 *
 * @see docs/protocol.md 15.2
 */

import { formTypeOf, requireIdentityEncoding } from "../bodies/index.ts";
import { CONNECTION_CLOSE, type RequestContext, RequestError, requireSameOrigin } from "../http/index.ts";
import type { AppLog } from "../logging/index.ts";

/**
 * Throws unless a request is the form of a page of this site: its method is POST, its content type is that of a form,
 * and its origin is that of the site.
 *
 * @throws RequestError `validation_error` with the status 405 or 415, or `forbidden`
 */
export function requireForm(context: RequestContext, log: AppLog): void {
  const { method } = context.inbound;
  if (method !== "POST") {
    throw new RequestError("validation_error", `Method ${method} is not allowed: send a form with POST.`, {
      status: 405,
      headers: { allow: "POST", ...CONNECTION_CLOSE },
    });
  }
  if (formTypeOf(context.inbound.header("content-type")) === null) {
    const message = "The content type of a form must be multipart/form-data or application/x-www-form-urlencoded.";
    throw new RequestError("validation_error", message, { status: 415, headers: CONNECTION_CLOSE });
  }
  requireIdentityEncoding(context.inbound);
  requireSameOrigin(context, log, "form");
}
