import { checkDeclaredLength, discardBody, MAX_BODY_BYTES } from "../bodies/index.ts";
import { handleFormCall } from "../forms/index.ts";
import {
  awaitMaybe,
  canonicalPath,
  type HandlerResponse,
  type InboundRequest,
  isCallPath,
  isPrefetch,
  isValidPath,
  jsonResponse,
  type MaybeAsync,
  PRIVATE_NO_CACHE,
  PRIVATE_NO_STORE,
  pathBelowBase,
  type RequestContext,
  RequestError,
  textResponse,
} from "../http/index.ts";
import { handleMetrics } from "../observe/index.ts";
import {
  handleNotFound,
  handlePage,
  handlePageForm,
  handleRoute,
  LATER_SCRIPT,
  LATER_SCRIPT_PATH,
  methodHint,
  type PageDefinition,
  type PageForm,
  type RouteDefinition,
} from "../pages/index.ts";
import { FORM_PREFIX, isLivePath, OPENAPI_PATH, RPC_PREFIX, SESSION_PATH } from "../protocol/index.ts";
import { errorResponse, handleCall } from "../rpc/index.ts";
import { currentTag, removeEndedSession } from "../session/index.ts";
import { runBefore } from "./before.ts";
import { respondToHealthCheck, respondToReadinessCheck } from "./health.ts";
import { bearerHeader, identify } from "./identify.ts";
import { compressPage } from "./page-compression.ts";
import { findPageForm, isHealthPath } from "./router.ts";
import type { Site } from "./site.ts";

/**
 * Returns the generator that handles a request. For a call, it usually is that of {@link handleCall} itself, because one more
 * generator takes 2% of the time of a call.
 */
export function dispatch(context: RequestContext, site: Site): MaybeAsync<HandlerResponse | Response> {
  const { pathname } = context.inbound;
  const isValid = isValidPath(pathname);
  const path = isValid ? pathBelowBase(pathname, site.base) : null;
  const isCallAtOnce = site.sessions.revocations.isLoaded && !site.metrics && !site.before;
  if (isCallAtOnce && path?.startsWith(RPC_PREFIX) && bearerHeader(context.inbound, site) === null)
    return handleCallPath(context, path, site);
  return dispatchByPath(context, { path, isValid }, site);
}

function handleCallPath(context: RequestContext, path: string, { calls }: Site): MaybeAsync<HandlerResponse> {
  return handleCall(context, path.slice(RPC_PREFIX.length), calls);
}

function* dispatchByPath(
  context: RequestContext,
  { path, isValid }: { readonly path: string | null; readonly isValid: boolean },
  site: Site,
): MaybeAsync<HandlerResponse | Response> {
  const { inbound } = context;
  const { revocations } = site.sessions;
  if (path === LATER_SCRIPT_PATH) return respondWithLaterScript(inbound);
  // Only if app.start() was not awaited, or while the store is unreachable. It waits for at most a second.
  if (!revocations.isLoaded) {
    yield* awaitMaybe(revocations.startForRequest());
    context.revocationOrder = revocations.order; // what was read at the start was before the request
  }
  if (isPrefetch(context)) {
    const refusal = acquirePrefetch(context, path, site);
    if (refusal) return refusal;
  }
  if (site.metrics && path === site.metrics.path) return yield* awaitMaybe(handleMetrics(inbound, site.metrics));
  const isAdmitted = !isValid || (!site.before && bearerHeader(inbound, site) === null);
  if (!isAdmitted && !isExemptFromBefore(inbound, path, site)) {
    const answer = yield* admit(context, path, site);
    if (answer) return answer;
  }
  if (path?.startsWith(RPC_PREFIX)) return yield* handleCallPath(context, path, site);
  if (path?.startsWith(FORM_PREFIX)) {
    return yield* awaitMaybe(handleFormCall(context, path.slice(FORM_PREFIX.length), site.calls));
  }
  const form = path === null ? null : findPageForm(inbound, path, site.router);
  if (form) {
    const response = yield* awaitMaybe(handleForm(context, form, site));
    return yield* awaitMaybe(compressPage(response, context, site));
  }
  const reader = routeOfBody(inbound, path, site);
  checkDeclaredLength(inbound, reader ? maxRouteBody(reader, site) : undefined);
  const isLiveBody = inbound.method === "POST" && isLivePath(path);
  if (inbound.hasUndeclaredBody && !reader && !isLiveBody) yield* awaitMaybe(discardBody(context));
  if (!isValid) return rejectPath(context, site);
  const live = path === null ? null : site.live.handle(context, path);
  context.isRead = live !== null;
  if (live) return yield* awaitMaybe(live);
  if (path === SESSION_PATH) return respondWithTag(context);
  if (path === null) return yield* awaitMaybe(handleOutsideBase(context, site));
  return yield* handlePath(context, path, site);
}

/** Returns the script of pages with parts, as a file that browsers keep. It is served without `before`, as files are. */
function respondWithLaterScript({ method }: InboundRequest): HandlerResponse {
  if (method !== "GET" && method !== "HEAD") return onlyRead();
  return { status: 200, headers: LATER_SCRIPT_HEADERS, body: LATER_SCRIPT };
}

function onlyRead(): HandlerResponse {
  return textResponse(405, "This URL allows GET and HEAD.\n", { allow: "GET, HEAD", ...PRIVATE_NO_CACHE });
}

const LATER_SCRIPT_HEADERS = {
  "content-type": "text/javascript; charset=utf-8",
  "cache-control": "max-age=31536000, immutable",
} as const;

/** How long a client that prefetches too many pages at once should wait, in seconds. Browsers request the page at the click. */
const PREFETCH_RETRY_SECONDS = 1;

/**
 * Counts a page that is prefetched, until its response is there. Returns the response to one too many: a prefetch must not take what
 * clicks need.
 */
function acquirePrefetch(context: RequestContext, path: string | null, site: Site): HandlerResponse | null {
  if (path === null || site.files?.has(context.inbound, path)) return null;
  const release = site.prefetches.acquire(context.address);
  if (release) {
    context.onBodyReleased(release);
    return null;
  }
  return textResponse(429, "Too many prefetches at once.\n", { "retry-after": String(PREFETCH_RETRY_SECONDS) });
}

/**
 * Returns the tag of the client's sign-in as text, which is empty for a signed-out client: a page that a browser has kept for
 * Back compares it with its own.
 *
 * @see docs/protocol.md 7.10
 */
function respondWithTag(context: RequestContext): HandlerResponse {
  const { method } = context.inbound;
  if (method !== "GET" && method !== "HEAD") return onlyRead();
  return textResponse(200, currentTag(context) ?? "", PRIVATE_NO_CACHE);
}

/**
 * Identifies the user of a bearer token, then runs `before`. Returns the response of a request that may not pass.
 *
 * @param path the path below the base, percent-encoded; `null` outside the base
 */
function* admit(
  context: RequestContext,
  path: string | null,
  site: Site,
): MaybeAsync<HandlerResponse | Response | null> {
  const header = path === null ? null : bearerHeader(context.inbound, site);
  const refusal = path === null || header === null ? null : yield* identify(context, { header, path }, site);
  return refusal ?? (yield* runBefore(context, path, site));
}

/**
 * Returns whether a request is one for a file or a health check: these are served without `before`. In development, any path
 * may be that of a file, apart from those that files are not served at.
 */
function isExemptFromBefore(inbound: InboundRequest, path: string | null, { files, router }: Site): boolean {
  if (path === null || path.startsWith(RPC_PREFIX) || isLivePath(path)) return false;
  if (files?.has(inbound, path)) return true;
  return isHealthPath(path) && !router(inbound.method, path);
}

/**
 * Responds to a path that cannot be routed: with the error body below the path of calls, and with text elsewhere. GET and HEAD
 * of a path with needless percent-encoding are redirected to the path without it.
 */
function rejectPath(context: RequestContext, { base, log }: Site): HandlerResponse {
  const { method, pathname, url } = context.inbound;
  const isCall = isCallPath(pathname, base);
  const canonical = isCall || (method !== "GET" && method !== "HEAD") ? null : canonicalPath(pathname);
  if (canonical !== null) return permanentRedirect(canonical + url.search);
  const message =
    "This path cannot be read: it has broken or needless percent-encoding, a doubled slash, a segment . or .., " +
    "a backslash or a control character.";
  if (!isCall) return textResponse(400, `${message}\n`);
  return errorResponse(new RequestError("validation_error", message, { status: 400 }), context, log);
}

/** Returns the route that receives the body, if any. No host passes on a body of GET and HEAD. */
function routeOfBody({ method }: InboundRequest, path: string | null, { router }: Site): RouteDefinition | undefined {
  if (path === null || method === "GET" || method === "HEAD") return undefined;
  const match = router(method, path);
  return match?.kind === "route" ? match.route : undefined;
}

function maxRouteBody({ options }: RouteDefinition, { calls }: Site): number {
  return options.max_body ?? calls.max_body ?? MAX_BODY_BYTES;
}

function handleOutsideBase(context: RequestContext, site: Site): Promise<HandlerResponse> {
  site.warnOfRemovedBase(context.inbound.method, context.inbound.pathname);
  return handleNotFound(context, site.pages);
}

function* handlePath(context: RequestContext, path: string, site: Site): MaybeAsync<HandlerResponse | Response> {
  const file = site.files?.handle(context.inbound, path);
  if (file) {
    // If the file was deleted after the build, the request is one for a page or a route, which was not admitted yet.
    const response = (yield* awaitMaybe(file)) ?? (yield* admit(context, path, site));
    if (response) return response;
  }
  const response = yield* handleMatch(context, path, site);
  return yield* awaitMaybe(compressPage(response, context, site));
}

function* handleMatch(context: RequestContext, path: string, site: Site): MaybeAsync<HandlerResponse | Response> {
  const { method } = context.inbound;
  const match = site.router(method, path);
  const hasSlash = path !== "/" && path.endsWith("/");
  switch (match?.kind) {
    case undefined:
      return handleBuiltInPath(path, site) ?? (yield* awaitMaybe(handleNotFound(context, site.pages)));
    case "method":
      return yield* awaitMaybe(methodNotAllowed(method, match.allow, site));
    case "route": {
      if (hasSlash) return yield* awaitMaybe(handleSlashedRoute(context, site));
      const settings = { ...site.pages, maxBody: maxRouteBody(match.route, site) };
      return yield* awaitMaybe(handleRoute(context, match.route, match.params, settings));
    }
    case "page":
      if (hasSlash) return redirectToCanonicalPath(context.inbound.url);
      return completePage(context, yield* handlePageOrDocument(context, match, path, site), match.page, site);
  }
}

/** Returns the generator that handles the request of a page: that of {@link handlePage} itself, unless its document may exist. */
function handlePageOrDocument(
  context: RequestContext,
  match: { readonly page: PageDefinition; readonly params: PageForm["params"] },
  path: string,
  site: Site,
): MaybeAsync<HandlerResponse> {
  const { options } = match.page;
  if (options.static || options.cache) return respondWithSharedPage(context, { ...match, path }, site);
  return handlePage(context, match.page, match.params, site.pages);
}

function* respondWithSharedPage(
  context: RequestContext,
  match: { readonly page: PageDefinition; readonly params: PageForm["params"]; readonly path: string },
  { pages, cachedPages, staticPages }: Site,
): MaybeAsync<HandlerResponse> {
  const { options } = match.page;
  const file = options.static && staticPages?.(context.inbound, match.path);
  const response = file ? yield* awaitMaybe(file) : null;
  if (response) return response;
  const isForAll = options.cache || (options.static && pages.development); // with the errors that the build would have
  if (cachedPages && isForAll) return yield* cachedPages.handle(context, match, pages);
  return yield* handlePage(context, match.page, match.params, pages);
}

/** In development, the response describes how to handle the method. */
async function methodNotAllowed(method: string, allow: string, { pages }: Site): Promise<HandlerResponse> {
  await pages.reportUnserved?.(allow);
  const hint = pages.development ? methodHint(method) : "";
  return textResponse(405, `This URL allows ${allow}.${hint && ` ${hint}`}\n`, { allow });
}

async function handleForm(context: RequestContext, form: PageForm, site: Site): Promise<HandlerResponse> {
  const response = await handlePageForm(context, form, { forms: site.calls, pages: site.pages });
  return completePage(context, response, form.page, site);
}

/** Completes the response of a page: removes a dead session cookie, and adds the security headers of the page. */
function completePage(
  context: RequestContext,
  response: HandlerResponse,
  page: PageDefinition | null,
  site: Site,
): HandlerResponse {
  removeEndedSession(context);
  const security = page ? (site.pageSecurity.get(page) ?? site.documentSecurity) : undefined;
  if (isPrefetch(context)) site.prefetches.served(context);
  if (!security) return response;
  const { status, headers, body } = response; // copying the object as a whole takes as long as writing the document
  return headers ? { status, headers, security, body } : { status, security, body };
}

/**
 * Redirects GET and HEAD to the path without the slash. Other methods get 404: many senders of webhooks do not follow
 * redirects. The router ignores the slash, but a rule of a proxy for the route's path does not apply to this path.
 */
function handleSlashedRoute(context: RequestContext, { pages }: Site): HandlerResponse | Promise<HandlerResponse> {
  const { method } = context.inbound;
  if (method === "GET" || method === "HEAD") return redirectToCanonicalPath(context.inbound.url);
  context.closeConnection ||= context.inbound.hasUndeclaredBody;
  return handleNotFound(context, pages);
}

/** Removes slashes at the end of a page's path: below one, the page's relative links would resolve differently. */
function redirectToCanonicalPath({ pathname, search }: URL): HandlerResponse {
  return permanentRedirect(pathname.replace(/\/+$/, "") + search);
}

function permanentRedirect(location: string): HandlerResponse {
  return { status: 308, headers: { location, ...PRIVATE_NO_STORE }, body: null };
}

/** Handles the framework's own paths, unless the application serves them. Returns `null` for any other path. */
function handleBuiltInPath(path: string, { draining, live, health, sessions, openapi }: Site): HandlerResponse | null {
  if (path === "/healthz") return respondToHealthCheck(health);
  if (path === "/readyz")
    return respondToReadinessCheck(health, {
      draining,
      bus: live.bus.state,
      hasRevocations: sessions.revocations.isLoaded,
    });
  // Only in development: a list of all functions would help an attacker.
  return path === OPENAPI_PATH && openapi ? jsonResponse(200, openapi()) : null;
}
