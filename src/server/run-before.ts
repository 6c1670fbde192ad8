import {
  awaitMaybe,
  type HandlerResponse,
  isResponse,
  type MaybeAsync,
  Redirect,
  type RequestContext,
  RequestError,
} from "../http/index.ts";
import { handlePageError } from "../pages/index.ts";
import { FORM_PREFIX, LIVE_PATH, POLL_PATH, RPC_PREFIX } from "../protocol/index.ts";
import { callerError, callRedirect, errorResponse } from "../rpc/index.ts";
import { decodePath } from "./before.ts";
import type { Site } from "./site.ts";

/** How a request is answered: its errors and redirects have another form for scripts than for browsers. */
type RequestKind = "page" | "route" | "call" | "live";

/**
 * Runs the function `before` of the application. Returns its response, or `null` if the request may pass.
 *
 * It fails closed: with anything but a result that is documented, the request does not pass. Never throws.
 *
 * @param path the path below the base, percent-encoded; `null` outside the base
 * @see docs/protocol.md 2.11
 */
export function* runBefore(
  context: RequestContext,
  path: string | null,
  site: Site,
): MaybeAsync<HandlerResponse | Response | null> {
  const { before } = site;
  if (!before) return null;
  const { inbound } = context;
  try {
    const result: unknown = yield* awaitMaybe(
      before({
        path: decodePath(path ?? inbound.pathname),
        set_header: (name, value) => context.setHeader(name, value),
      }),
    );
    if (result === undefined || result === null) return null;
    if (isResponse(result)) {
      closeUnlessBodiless(context);
      return result;
    }
    if (result instanceof Redirect) throw result;
    throw new Error(
      `\`before\` of new App returned a value of type ${typeof result}. Return a Response or a redirect to answer the ` +
        "request, and nothing to let it pass.",
    );
  } catch (error) {
    closeUnlessBodiless(context);
    return yield* awaitMaybe(respondWithFailure(context, error, kindOf(inbound.method, path, site), site));
  }
}

/** Closes the connection after the response if the request may have a body, because nothing reads it. */
function closeUnlessBodiless(context: RequestContext): void {
  const { method, hasUndeclaredBody } = context.inbound;
  if (hasUndeclaredBody || (method !== "GET" && method !== "HEAD")) context.closeConnection = true;
}

function kindOf(method: string, path: string | null, { router }: Site): RequestKind {
  if (path === null) return "page";
  if (path.startsWith(RPC_PREFIX) || path.startsWith(FORM_PREFIX)) return "call";
  if (path === LIVE_PATH || path === POLL_PATH) return "live";
  return router(method, path)?.kind === "route" ? "route" : "page";
}

function respondWithFailure(
  context: RequestContext,
  error: unknown,
  kind: RequestKind,
  { base, log, pages }: Site,
): HandlerResponse | Promise<HandlerResponse> {
  const subject = "`before` of new App";
  if (kind === "page" || (kind === "route" && error instanceof Redirect)) {
    return handlePageError(context, error, { subject, isLogged: false }, pages);
  }
  if (error instanceof Redirect) {
    // The page of a live request reloads after this status, and `before` can redirect the request of the page.
    const forbidden = new RequestError("forbidden", "This page has to be reloaded.");
    return (kind === "call" && callRedirect(error, base)) || errorResponse(forbidden, context, log);
  }
  return errorResponse(callerError(error, context, log, subject), context, log);
}
