import { REQUEST_ID_HEADER, TRACEPARENT_HEADER } from "../protocol/index.ts";
import { type HandlerResponse, PRIVATE_NO_STORE } from "./handler-response.ts";
import type { OutboundResponse } from "./outbound-response.ts";
import { proxiedHeaders } from "./proxied-headers.ts";
import type { RequestContext } from "./request-context.ts";
import type { SecurityHeaders } from "./security-headers.ts";

/**
 * Returns a response with everything that all responses have: the request id, `traceparent`, the cookies that were set,
 * and the security headers. Every response of an application is completed here, on every platform.
 *
 * Headers that the response already has are kept. Afterwards `context.headersSent` is `true`: setting a cookie throws
 * from here on, since it could no longer be sent.
 *
 * @see docs/protocol.md 2.3 to 2.6
 */
export function completeResponse(
  response: HandlerResponse | Response,
  context: RequestContext,
  security: SecurityHeaders,
): OutboundResponse | Response {
  const outbound =
    response instanceof Response
      ? completeFetchResponse(response, context, security)
      : completeHandlerResponse(response, context, security);
  context.headersSent = true;
  return outbound;
}

function completeHandlerResponse(
  response: HandlerResponse,
  context: RequestContext,
  security: SecurityHeaders,
): OutboundResponse {
  const responseHeaders = response.headers ?? {};
  const headers: string[] = [];
  for (const name in responseHeaders) headers.push(name, responseHeaders[name] ?? "");
  for (const [name, value] of response.security ?? security) {
    if (responseHeaders[name] === undefined) headers.push(name, value);
  }
  headers.push(REQUEST_ID_HEADER, context.id, TRACEPARENT_HEADER, context.traceparent);
  for (const cookie of context.setCookieHeaders) headers.push("set-cookie", cookie);
  return { status: response.status, headers, body: context.inbound.method === "HEAD" ? null : response.body };
}

function completeFetchResponse(routeResponse: Response, context: RequestContext, security: SecurityHeaders): Response {
  const response = copyResponse(routeResponse, context);
  const { headers } = response;
  for (const [name, value] of security) if (!headers.has(name)) headers.set(name, value);
  headers.set(REQUEST_ID_HEADER, context.id);
  headers.set(TRACEPARENT_HEADER, context.traceparent);
  for (const cookie of context.setCookieHeaders) headers.append("set-cookie", cookie);
  return response;
}

/**
 * Returns a copy of a route's response for this request alone.
 *
 * A route may return one `Response` without a body for many requests. Without the copy, a cookie that was set for one
 * user, even the session, would be sent to the next. The headers of a response of `fetch` or `Response.redirect` are
 * also immutable.
 *
 * If the response has no `Cache-Control`, the copy forbids caching.
 *
 * @see docs/protocol.md 11.4
 */
function copyResponse(response: Response, { inbound }: RequestContext): Response {
  const { body, status, statusText } = response;
  const isHead = inbound.method === "HEAD";
  const headers = proxiedHeaders(response);
  for (const [name, value] of Object.entries(PRIVATE_NO_STORE)) if (!headers.has(name)) headers.set(name, value);
  // Without cancel(), the file or connection behind a body that is never read would stay open.
  if (isHead) body?.cancel().catch(() => undefined);
  return new Response(isHead ? null : body, { status, statusText, headers });
}
