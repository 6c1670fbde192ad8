import { RPCError, statusOf } from "../errors.ts";
import {
  CONNECTION_CLOSE,
  type HandlerResponse,
  jsonResponse,
  type RequestContext,
  RequestError,
  withLimitedBody,
} from "../http/index.ts";
import type { Logger } from "../logging/index.ts";
import { callerErrorOfFunction, errorJson } from "../rpc/index.ts";
import type { RouteDefinition } from "./route.ts";

/**
 * Handles the request of a route. An error becomes a JSON response, as for server functions.
 *
 * @see docs/protocol.md 11.4
 */
export async function handleRoute(
  context: RequestContext,
  route: RouteDefinition,
  params: Record<string, string | undefined>,
  log: Logger,
): Promise<HandlerResponse | Response> {
  const subject = `The route ${route.method} ${route.path}`;
  try {
    const response = await route.run(withLimitedBody(context.raw), params);
    if (!(response instanceof Response))
      throw new Error(`${subject} returned a value of type ${typeof response}. Return a Response.`);
    return response;
  } catch (error) {
    const failure = isDisconnected(context, error)
      ? disconnectedError()
      : callerErrorOfFunction(error, context, log, subject);
    const [status, headers] =
      failure instanceof RequestError ? [failure.status, failure.headers] : [statusOf(failure.code)];
    return jsonResponse(status, `{"error":${errorJson(failure, context, log)}}`, headers);
  }
}

/** Returns whether the error is a consequence of the client's disconnection, for example while reading the body. */
function isDisconnected({ raw }: RequestContext, error: unknown): boolean {
  return raw.signal.aborted && !(error instanceof RPCError);
}

function disconnectedError(): RequestError {
  return new RequestError("validation_error", "The client disconnected before the response was sent.", {
    status: 400,
    headers: CONNECTION_CLOSE,
  });
}
