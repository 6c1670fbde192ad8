import type { Config } from "../config/index.ts";
import {
  type BuildToolAccess,
  clientAddress,
  completeResponse,
  createDataHeaders,
  createSecurityHeaders,
  errorBody,
  htmlResponse,
  type InboundRequest,
  isCallPath,
  jsonResponse,
  type OutboundResponse,
  RequestContext,
  requestIds,
} from "../http/index.ts";

/** The options of {@link respondToLoadFailure}. */
export interface LoadFailure {
  readonly config: Config;
  readonly buildTool: BuildToolAccess;
  /** The base path that the application had when it was last loaded; `null` if it never was. */
  readonly base: string | null;
  /** Renders the page that shows the error; `id` is the request's. */
  readonly showError: (id: string) => Promise<string>;
}

/**
 * Returns the response to a request whose application could not be loaded, in development: an error body for a call, the
 * page that shows the error for anything else. It has the headers of every response.
 *
 * @see docs/protocol.md 12.5
 */
export async function respondToLoadFailure(
  inbound: InboundRequest,
  { config, buildTool, base, showError }: LoadFailure,
): Promise<OutboundResponse | Response> {
  const context = new RequestContext({
    inbound,
    ...requestIds((name) => inbound.header(name)),
    address: clientAddress(inbound.address, inbound.header("x-forwarded-for"), config.trustProxy),
    config,
  });
  const environment = { buildTool, secure: config.cookieSecure };
  const security = { documents: createSecurityHeaders(environment), data: createDataHeaders(environment) };
  if (!isCallPath(inbound.pathname, base)) {
    return completeResponse(htmlResponse(500, await showError(context.id)), context, security);
  }
  const message = `The application could not be loaded. The terminal of the development server shows why. Request ${context.id}.`;
  return completeResponse(jsonResponse(500, errorBody("internal", message)), context, security);
}
