import { RPCError, statusOf } from "../errors.ts";
import { CLOSE, jsonReply, PRIVATE, Refusal, type Reply, type RequestContext, withLimitedBody } from "../http/index.ts";
import type { Log } from "../log.ts";
import { errorJson, functionFailureOf } from "../rpc/index.ts";
import type { RouteDefinition } from "./route.ts";

/**
 * Answers a raw route. What it throws is answered as a server function's errors are, in JSON; an
 * answer that says nothing of caches is for this visitor only.
 */
export async function answerRoute(
  context: RequestContext,
  route: RouteDefinition,
  params: Record<string, string | undefined>,
  log: Log,
): Promise<Reply | Response> {
  const what = `The route ${route.method} ${route.path}`;
  try {
    const response = await route.run(withLimitedBody(context.raw), params);
    if (!(response instanceof Response)) throw new Error(`${what} must answer a Response, not ${typeof response}.`);
    return response.headers.has("cache-control") ? response : withHeaders(response, PRIVATE);
  } catch (error) {
    const failure = hasLeft(context, error) ? left() : functionFailureOf(error, context, log, what);
    const [status, headers] = failure instanceof Refusal ? [failure.status, failure.headers] : [statusOf(failure.code)];
    return jsonReply(status, `{"error":${errorJson(failure, context, log)}}`, headers);
  }
}

/** What it waited for, its body say, ended because the caller had gone: no failure of the route's. */
function hasLeft({ raw }: RequestContext, error: unknown): boolean {
  return raw.signal.aborted && !(error instanceof RPCError);
}

function left(): Refusal {
  return new Refusal("validation_error", "The request ended before it was answered.", { status: 400, headers: CLOSE });
}

function withHeaders(response: Response, more: Readonly<Record<string, string>>): Response {
  const headers = new Headers(response.headers);
  for (const [name, value] of Object.entries(more)) headers.set(name, value);
  return new Response(response.body, { status: response.status, statusText: response.statusText, headers });
}
