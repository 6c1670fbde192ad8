import { RPCError, statusOf } from "../errors.ts";
import { CLOSE, jsonReply, Refusal, type Reply, type RequestContext, withLimitedBody } from "../http/index.ts";
import type { Log } from "../logging/index.ts";
import { errorJson, functionFailureOf } from "../rpc/index.ts";
import type { RouteDefinition } from "./route.ts";

/**
 * Answers a raw route. What it throws is answered as a server function's errors are, in JSON.
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
    return response;
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
