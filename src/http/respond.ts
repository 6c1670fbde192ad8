import type { RequestContext } from "./context.ts";
import type { Reply } from "./reply.ts";

/**
 * Makes the `Response` of an answer: with the request's ids, the cookies that were set, and the
 * security headers, whatever it is an answer of.
 *
 * @param security name and value of each security header; one that the answer has itself stays
 */
export function toResponse(
  reply: Reply | Response,
  context: RequestContext,
  security: readonly (readonly [string, string])[],
): Response {
  const response =
    reply instanceof Response
      ? reply
      : new Response(context.raw.method === "HEAD" ? null : reply.body, {
          status: reply.status,
          headers: reply.headers ?? {},
        });
  const { headers } = response;
  for (const [name, value] of security) if (!headers.has(name)) headers.set(name, value);
  headers.set("x-request-id", context.id);
  headers.set("traceparent", context.traceparent);
  for (const cookie of context.outgoingCookies) headers.append("set-cookie", cookie);
  return response;
}
