import { Readable } from "node:stream";
import { type HandlerResponse, PRIVATE_NO_STORE } from "./handler-response.ts";
import { proxiedHeaders } from "./proxied-headers.ts";
import { isPushedBody } from "./pushed-body.ts";
import type { RequestContext } from "./request-context.ts";
import type { SecurityHeaders } from "./security-headers.ts";

/** An answer with all that it carries: what an adapter writes. */
export interface OutboundResponse {
  readonly status: number;
  /** Names, in lower case, and values by turns, as HTTP has them: a name may come again. */
  readonly headers: readonly string[];
  readonly body: HandlerResponse["body"];
}

/**
 * Completes an answer: with the request's ids, the cookies that were set, and the security headers,
 * whatever it is an answer of. Every answer of an application passes here, on every platform.
 */
export function completeResponse(
  reply: HandlerResponse | Response,
  context: RequestContext,
  security: SecurityHeaders,
): OutboundResponse | Response {
  const outgoing = isReply(reply)
    ? completeHandlerResponse(reply, context, security)
    : completeFetchResponse(reply, context, security);
  // A cookie that is set from here on would be lost without a word.
  context.headersSent = true;
  return outgoing;
}

/** Gives a completed answer as the Fetch standard has it. */
export function toFetchResponse(outgoing: OutboundResponse | Response): Response {
  if (outgoing instanceof Response) return outgoing;
  const headers = new Headers();
  const { headers: lines, body } = outgoing;
  for (let i = 0; i < lines.length; i += 2) headers.append(lines[i] ?? "", lines[i + 1] ?? "");
  return new Response(isPushedBody(body) ? body.toStream() : body, { status: outgoing.status, headers });
}

/** What files are answered with: like a response, and made for Node's servers. */
interface NodeLike {
  _toNodeResponse(): { readonly status: number; readonly headers: readonly string[]; readonly body: unknown };
}

/**
 * Gives a response as the platform's own. What files are answered with is only like one: the servers
 * of Bun and Deno would take no header from it, and its `body` leaves the file open when nobody reads it.
 */
export function toNativeResponse(given: Response): Response {
  if (!("_toNodeResponse" in given)) return given;
  const { body, ...rest } = (given as Response & NodeLike)._toNodeResponse();
  const stream = body instanceof Readable ? Readable.toWeb(body) : body;
  return toFetchResponse({ ...rest, body: stream as OutboundResponse["body"] }); // Node's web streams are the platform's
}

function isReply(reply: HandlerResponse | Response): reply is HandlerResponse {
  // Asked first: to look at the body of a file's answer is to begin to read the file.
  return !(reply instanceof Response);
}

function completeHandlerResponse(
  reply: HandlerResponse,
  context: RequestContext,
  security: SecurityHeaders,
): OutboundResponse {
  const own = reply.headers ?? {};
  const headers: string[] = [];
  for (const name in own) headers.push(name, own[name] ?? "");
  for (const [name, value] of reply.security ?? security) if (own[name] === undefined) headers.push(name, value);
  headers.push("x-request-id", context.id, "traceparent", context.traceparent);
  for (const cookie of context.setCookieHeaders) headers.push("set-cookie", cookie);
  return { status: reply.status, headers, body: context.inbound.method === "HEAD" ? null : reply.body };
}

function completeFetchResponse(given: Response, context: RequestContext, security: SecurityHeaders): Response {
  const response = context.inbound.method === "HEAD" || !isFile(given) ? copyOf(given, context) : given;
  const { headers } = response;
  for (const [name, value] of security) if (!headers.has(name)) headers.set(name, value);
  headers.set("x-request-id", context.id);
  headers.set("traceparent", context.traceparent);
  for (const cookie of context.setCookieHeaders) headers.append("set-cookie", cookie);
  return response;
}

/** What files are answered with is made for each request, and nobody else has it. */
function isFile(given: Response): boolean {
  return "_toNodeResponse" in given;
}

/**
 * Gives a route's answer anew, for this request alone. A route may keep one and give it again and again, as
 * those without a body can be: what is set on it for one visitor, the session even, would go to the next.
 * And the answer of another server (`fetch`), or of `Response.redirect`, takes no more headers.
 *
 * One that says nothing of caches is for this visitor only.
 */
function copyOf(given: Response, { inbound }: RequestContext): Response {
  const { body, status, statusText } = given;
  const isHead = inbound.method === "HEAD";
  const headers = proxiedHeaders(given);
  for (const [name, value] of Object.entries(PRIVATE_NO_STORE)) if (!headers.has(name)) headers.set(name, value);
  // Nobody will read it: what it is made of, a file or a connection, would stay open.
  if (isHead) body?.cancel().catch(() => undefined);
  return new Response(isHead ? null : body, { status, statusText, headers });
}
