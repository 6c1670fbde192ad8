import {
  clientAddress,
  completeResponse,
  FetchInboundRequest,
  type HandlerResponse,
  type InboundRequest,
  isCallPath,
  isPrefetch,
  isPromise,
  isResponse,
  isValidPath,
  keepInMemory,
  logRefusal,
  type MaybeAsync,
  type OutboundResponse,
  PRIVATE_NO_CACHE,
  PrefetchError,
  pathBelowBase,
  RequestContext,
  RequestError,
  type RequestIds,
  type RequestSender,
  readUrl,
  refusePrefetch,
  releaseUnsentBody,
  requestIds,
  run,
  runInContext,
  textResponse,
  toFetchResponse,
  unreadableRequestResponse,
} from "../http/index.ts";
import { observeRequest } from "../observe/index.ts";
import { isLivePath } from "../protocol/index.ts";
import { errorResponse } from "../rpc/index.ts";
import { dispatch } from "./dispatch.ts";
import { requestTarget } from "./router.ts";
import type { Site } from "./site.ts";

/**
 * Handles a request: its ids, its path, then a call, a form, live updates, a file, a raw route or a page.
 *
 * Never throws and never rejects: every failure becomes a response, with the ids and the security headers.
 */
export function handleRequest(
  inbound: InboundRequest,
  site: Site,
): OutboundResponse | Response | Promise<OutboundResponse | Response> {
  const context = openContext(inbound, site);
  const handle = () => {
    context.isInFirstTurn = true;
    const response = runInContext(context, () => run(respond(context, site)));
    context.endFirstTurn({ isWaiting: isPromise(response) });
    return response;
  };
  const listeners = site.listeners.current;
  return listeners ? observeRequest(context, { target: requestTarget(inbound, site), listeners }, handle) : handle();
}

/**
 * Handles a Fetch `Request`. Never rejects: runtimes answer a rejection with an error page of their own, which may show
 * the stack and the source to the client (Bun does).
 *
 * @param info the second argument of `app.fetch`, which hosts may fill with objects of their own
 */
export async function handleFetch(request: Request, info: unknown, site: Site): Promise<Response> {
  const release = keepInMemory(request);
  try {
    requireRequest(request);
    const address = site.readAddress(info);
    const url = readUrl(request);
    if (!url) return toFetchResponse(unreadableRequestResponse(request.url, (name) => request.headers.get(name)));
    return toFetchResponse(await handleRequest(new FetchInboundRequest(request, address, url), site));
  } catch (error) {
    site.log.error({ err: error }, "A response could not be created");
    return new Response(null, { status: 500 });
  } finally {
    release();
  }
}

function* respond(context: RequestContext, site: Site): MaybeAsync<OutboundResponse | Response> {
  try {
    const response = yield* dispatch(context, site);
    if (isResponse(response) && isPrefetch(context) && response.headers.has("set-cookie"))
      refusePrefetch(context, "a Set-Cookie header");
    if (context.unavailable) {
      releaseUnsentBody(response);
      throw context.unavailable;
    }
    return completeResponse(response, context, site.security);
  } catch (error) {
    // A rejected request, or a response that cannot be completed: a fetched one whose body a route has consumed.
    context.discardChanges();
    if (error instanceof PrefetchError) site.reportPrefetch?.(error);
    return completeResponse(respondToError(context, error, site), context, site.security);
  } finally {
    context.releaseBody();
  }
}

/** Logs that a response could not be sent, as an error of its request. The context of the request has ended. */
export function logUnsent(
  inbound: InboundRequest,
  result: OutboundResponse | Response | undefined,
  { error, site }: { readonly error: unknown; readonly site: Site },
): void {
  const context = openContext(inbound, site, result && requestIds((name) => headerOf(result, name)));
  runInContext(context, () => site.log.error({ id: context.id, err: error }, "A response could not be sent"));
}

function headerOf(result: OutboundResponse | Response, name: string): string | null {
  if (isResponse(result)) return result.headers.get(name);
  const { headers } = result;
  return headers.find((_, at) => at % 2 === 1 && headers[at - 1] === name) ?? null;
}

/** Returns the address of the client that has sent a request. */
export function addressOf(sender: RequestSender, { config }: Site): string {
  const forwardedFor = config.trustProxy > 0 ? sender.header("x-forwarded-for") : null;
  return clientAddress(sender.address, forwardedFor, config.trustProxy);
}

function openContext(
  inbound: InboundRequest,
  site: Site,
  ids: RequestIds = requestIds((name) => inbound.header(name)),
): RequestContext {
  const { config, bodyLimit, provided, sessions } = site;
  if (config.trustProxy > 0 && inbound.header("x-forwarded-for") === null) site.warnOfMissingProxy(inbound);
  return new RequestContext({
    inbound,
    id: ids.id,
    traceparent: ids.traceparent,
    address: addressOf(inbound, site),
    config,
    provided,
    revocationOrder: sessions.revocations.order,
    bodyLimit,
  });
}

function respondToError(context: RequestContext, error: unknown, site: Site): HandlerResponse {
  const { base, log } = site;
  if (error instanceof RequestError) {
    logRefusal(error, context, log);
    // A body that is too large is rejected before its path.
    if (isCallPath(context.inbound.pathname, base) || isRoute(context.inbound, site)) {
      return errorResponse(error, context, log);
    }
    // The wait is a field of the error body, on every path.
    if (error.code === "rate_limited") return errorResponse(error, context, log);
    const headers = isLiveRequest(context.inbound, site) ? { ...PRIVATE_NO_CACHE, ...error.headers } : error.headers;
    return textResponse(error.status, `${error.message}\n`, headers);
  }
  log.error({ id: context.id, err: error }, "A request failed");
  return textResponse(500, `Something went wrong on the server. Request ${context.id}\n`);
}

function isLiveRequest({ pathname }: InboundRequest, { base }: Site): boolean {
  return isLivePath(isValidPath(pathname) ? pathBelowBase(pathname, base) : null);
}

/** Returns whether a route handles a request. Its errors are those of calls. */
function isRoute({ method, pathname }: InboundRequest, { router, base }: Site): boolean {
  const path = isValidPath(pathname) ? pathBelowBase(pathname, base) : null;
  return path !== null && router(method, path)?.kind === "route";
}

/** @throws TypeError for a URL, which `fetch` of browsers takes too */
function requireRequest(request: unknown): void {
  const isUrl = typeof request === "object" && request !== null && "href" in request;
  if (typeof request !== "string" && !isUrl) return;
  // A relative URL has no host. What follows the path may be a secret.
  const [path = "/"] = String(request).split(/[?#]/);
  const url = URL.canParse(path) ? path : `http://localhost${path.startsWith("/") ? "" : "/"}${path}`;
  throw new TypeError(
    `app.fetch takes a Request, and received the URL ${JSON.stringify(path)}. Write app.fetch(new Request(${JSON.stringify(url)})).`,
  );
}
