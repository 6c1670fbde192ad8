import type { RequestContext } from "./context.ts";
import type { Reply } from "./reply.ts";

/** What makes a `Response`: the platform's own class, or an adapter's that is faster where it runs. */
export type ResponseClass = new (body: BodyInit | null, init: ResponseInit) => Response;

/** What every answer of an application carries. */
export interface Common {
  /** Name and value of each security header; one that the answer has itself stays. */
  readonly security: readonly (readonly [string, string])[];
  readonly Response: ResponseClass;
}

/**
 * Makes the `Response` of an answer: with the request's ids, the cookies that were set, and the
 * security headers, whatever it is an answer of.
 */
export function toResponse(reply: Reply | Response, context: RequestContext, common: Common): Response {
  const response = makeResponse(reply, context, common);
  // A cookie that is set from here on would be lost without a word.
  context.headersSent = true;
  return response;
}

function makeResponse(reply: Reply | Response, context: RequestContext, common: Common): Response {
  if (reply instanceof Response) return complete(reply, context, common);
  const own = reply.headers ?? {};
  const headers: [string, string][] = Object.entries(own);
  for (const [name, value] of common.security) if (!Object.hasOwn(own, name)) headers.push([name, value]);
  headers.push(["x-request-id", context.id], ["traceparent", context.traceparent]);
  for (const cookie of context.outgoingCookies) headers.push(["set-cookie", cookie]);
  return new common.Response(context.raw.method === "HEAD" ? null : reply.body, { status: reply.status, headers });
}

function complete(given: Response, context: RequestContext, { security }: Common): Response {
  const response = context.raw.method === "HEAD" || isImmutable(given) ? copyOf(given, context) : given;
  const { headers } = response;
  for (const [name, value] of security) if (!headers.has(name)) headers.set(name, value);
  headers.set("x-request-id", context.id);
  headers.set("traceparent", context.traceparent);
  for (const cookie of context.outgoingCookies) headers.append("set-cookie", cookie);
  return response;
}

/** The answer of another server (`fetch`), or of `Response.redirect`, takes no more headers. */
function isImmutable({ headers }: Response): boolean {
  try {
    headers.delete("x-request-id");
    return false;
  } catch {
    return true;
  }
}

function copyOf({ body, status, statusText, headers }: Response, { raw }: RequestContext): Response {
  return new Response(raw.method === "HEAD" ? null : body, { status, statusText, headers });
}
