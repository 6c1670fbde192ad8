import {
  awaitMaybe,
  checkDeclaredLength,
  clientAddress,
  completeResponse,
  type HandlerResponse,
  type InboundRequest,
  isValidPath,
  jsonResponse,
  type MaybeAsync,
  type OutboundResponse,
  PRIVATE_NO_STORE,
  pathBelowBase,
  RequestContext,
  RequestError,
  requestId,
  run,
  runInContext,
  textResponse,
  traceParent,
} from "../http/index.ts";
import type { Logger } from "../logging/index.ts";
import { openapi } from "../openapi/index.ts";
import { handleNotFound, handlePage, handleRoute } from "../pages/index.ts";
import { OPENAPI_PATH, REQUEST_ID_HEADER, RPC_PREFIX, TRACEPARENT_HEADER } from "../protocol/index.ts";
import { handleCall } from "../rpc/index.ts";
import type { Site } from "./site.ts";

/** Data about a request that a Fetch `Request` does not contain. */
export interface RequestInfo {
  /**
   * The IP address of the other end of the connection. Behind the `WEB_TRUST_PROXY` number of proxies, it is the address of
   * the last proxy, and the client's address is read from `X-Forwarded-For`.
   */
  readonly address?: string;
}

/**
 * Handles a request: its ids, its path, then a call, live updates, a file, a raw route or a page.
 *
 * Never throws and never rejects: every failure becomes a response, with the ids and the security headers.
 */
export function handleRequest(
  inbound: InboundRequest,
  site: Site,
): OutboundResponse | Response | Promise<OutboundResponse | Response> {
  const context = openContext(inbound, site);
  return runInContext(context, () => run(respond(context, site)));
}

function* respond(context: RequestContext, site: Site): MaybeAsync<OutboundResponse | Response> {
  try {
    return completeResponse(yield* dispatch(context, site), context, site.security);
  } catch (error) {
    // A rejected request, or a response that cannot be completed: a fetched one whose body a route has consumed.
    return completeResponse(errorResponse(context, error, site.log), context, site.security);
  }
}

function openContext(inbound: InboundRequest, { config, live }: Site): RequestContext {
  return new RequestContext({
    inbound,
    id: requestId(inbound.header(REQUEST_ID_HEADER)),
    traceparent: traceParent(inbound.header(TRACEPARENT_HEADER)),
    address: clientAddress(inbound.address, inbound.header("x-forwarded-for"), config.trustProxy),
    config,
    bus: live.bus,
  });
}

function* dispatch(context: RequestContext, site: Site): MaybeAsync<HandlerResponse | Response> {
  const { pathname } = context.inbound;
  if (!isValidPath(pathname)) return textResponse(400, "Bad request: this path cannot be read.\n");
  const path = pathBelowBase(pathname, site.base);
  if (path?.startsWith(RPC_PREFIX)) return yield* handleCall(context, path.slice(RPC_PREFIX.length), site.calls);
  checkDeclaredLength(context.inbound);
  const live = path === null ? null : site.live.handle(context, path);
  if (live) return yield* awaitMaybe(live);
  return yield* awaitMaybe(path === null ? handleNotFound(context, site.pages) : handlePath(context, path, site));
}

async function handlePath(context: RequestContext, path: string, site: Site): Promise<HandlerResponse | Response> {
  const file = site.files?.handle(context.inbound, path) ?? null;
  const fileResponse = file && (await file);
  if (fileResponse) return fileResponse;
  const match = site.router(context.inbound.method, path);
  switch (match?.kind) {
    case undefined:
      return handleBuiltInPath(path, site) ?? handleNotFound(context, site.pages);
    case "method":
      return textResponse(405, `This URL allows ${match.allow}.\n`, { allow: match.allow });
    case "route":
      return handleRoute(context, match.route, match.params, site.log);
    case "page":
      if (path !== "/" && path.endsWith("/")) return redirectToCanonicalPath(context.url);
      return withSecurity(await handlePage(context, match.page, match.params, site.pages), match.page, site);
  }
}

function withSecurity(response: HandlerResponse, page: object, { pageSecurity }: Site): HandlerResponse {
  const security = pageSecurity.get(page);
  return security ? { ...response, security } : response;
}

/** Removes slashes at the end of a page's path: below one, the page's relative links would resolve differently. */
function redirectToCanonicalPath({ pathname, search }: URL): HandlerResponse {
  return { status: 308, headers: { location: pathname.replace(/\/+$/, "") + search, ...PRIVATE_NO_STORE }, body: null };
}

/** Handles the framework's own paths, unless the application serves them. */
function handleBuiltInPath(path: string, { draining, pages, inspection, version }: Site): HandlerResponse | null {
  if (path === "/healthz") return jsonResponse(200, '{"status":"ok"}');
  if (path === "/readyz") return jsonResponse(draining ? 503 : 200, `{"ready":${!draining}}`);
  // Only in development: a list of all functions would help an attacker.
  if (path === OPENAPI_PATH && pages.development) {
    return jsonResponse(200, JSON.stringify(openapi(inspection, version)));
  }
  return null;
}

function errorResponse(context: RequestContext, error: unknown, log: Logger): HandlerResponse {
  if (error instanceof RequestError) return textResponse(error.status, `${error.message}\n`, error.headers);
  log.error({ id: context.id, err: error }, "A request failed");
  return textResponse(500, `Something went wrong on the server. Request ${context.id}\n`);
}
