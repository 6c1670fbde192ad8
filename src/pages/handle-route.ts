import {
  findUnreadableBody,
  type LimitedRequest,
  MAX_BODY_BYTES,
  withLimitedBody,
  withUploadLimits,
} from "../bodies/index.ts";
import { RPCError } from "../errors.ts";
import {
  disconnectedError,
  type HandlerResponse,
  isDisconnection,
  isResponse,
  publicOrigin,
  Redirect,
  type RequestContext,
} from "../http/index.ts";
import { callerErrorOfFunction, errorResponse } from "../rpc/index.ts";
import { redirectResponse } from "./handle-page-error.ts";
import type { PageSettings } from "./render-document.ts";
import type { RouteDefinition } from "./route.ts";

/** What a route is handled with. */
export interface RouteSettings extends Pick<PageSettings, "base" | "log" | "reportRedirectLoop"> {
  /** The maximum size of the body, in bytes. */
  readonly maxBody: number;
}

/**
 * Handles the request of a route. A redirect has the status 303. An error becomes a JSON response, as for server
 * functions.
 *
 * @see docs/protocol.md 11.4
 */
export async function handleRoute(
  context: RequestContext,
  route: RouteDefinition,
  params: Record<string, string | undefined>,
  settings: RouteSettings,
): Promise<HandlerResponse | Response> {
  const { log, maxBody } = settings;
  const subject = `The route ${route.method} ${route.path}`;
  const { inbound } = context;
  inbound.publicOrigin = publicOrigin(context);
  let limited: LimitedRequest | undefined;
  let unreadableBody: ReturnType<typeof findUnreadableBody> | undefined;
  try {
    limited = maxBody > MAX_BODY_BYTES ? withUploadLimits(context, maxBody) : withLimitedBody(context, maxBody);
    if (inbound.method !== "GET" && inbound.method !== "HEAD") unreadableBody = findUnreadableBody(limited.request);
    const response = await route.run(limited.request, params);
    if (response instanceof Redirect) return redirectResponse(context, response, settings);
    if (!isResponse(response)) throw new Error(noResponseMessage(route, response));
    return response;
  } catch (error) {
    if (error instanceof Redirect) return redirectResponse(context, error, settings);
    const failure = isBodyLost(context, error)
      ? disconnectedError()
      : callerErrorOfFunction(unreadableBody?.(error) ?? error, context, log, subject);
    return errorResponse(failure, context, log);
  } finally {
    // The rest of a body of unknown length has no limit.
    if (limited?.isBodyChecked() === false) context.closeConnection = true;
  }
}

function noResponseMessage({ method, path, source }: RouteDefinition, value: unknown): string {
  return (
    `The route ${method} ${path} (${source.file}:${source.line}) returned ${value === null ? "null" : `a value of type ${typeof value}`}. ` +
    "Return a Response, for example `Response.json(value)` or `new Response(text)`, or a redirect."
  );
}

/**
 * Returns whether the error may be a consequence of the client's disconnection. What reading the rest of a body then
 * throws depends on the host, so with a body every error except an `RPCError` may be one.
 */
function isBodyLost(context: RequestContext, error: unknown): boolean {
  if (isDisconnection(context, error)) return true;
  return context.isBodyInRoute && context.raw.signal.aborted && !(error instanceof RPCError);
}
