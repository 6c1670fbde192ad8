import {
  awaitMaybe,
  type HandlerResponse,
  type InboundRequest,
  type MaybeAsync,
  PRIVATE_NO_STORE,
  type RequestContext,
  requireSameOrigin,
} from "../http/index.ts";
import { requireLeft } from "../limits/index.ts";
import { FORM_PREFIX, isLivePath, RPC_PREFIX } from "../protocol/index.ts";
import { callerError, errorResponse } from "../rpc/index.ts";
import { identifyBearer, invalidTokenError, namesBearer, readBearerToken } from "../session/index.ts";
import { closeUnlessBodiless } from "./before.ts";
import { findPageForm } from "./router.ts";
import type { Site } from "./site.ts";

/** The kind of a request that accepts a bearer token, as the origin check names it. A route has no origin check. */
type BearerKind = "call" | "form" | "subscription" | "route";

/** Returns the header `Authorization` of a request, if it is one for `authenticate`; otherwise `null`. */
export function bearerHeader(inbound: InboundRequest, { authenticate }: Pick<Site, "authenticate">): string | null {
  if (authenticate === undefined) return null;
  const header = inbound.header("authorization");
  return header !== null && namesBearer(header) ? header : null;
}

/**
 * Calls `authenticate` of the application for the user of a request with a bearer token: a call, a form that a script sends, an
 * event stream, a poll or a route. On pages and their forms, which only browsers request, the header has no effect.
 *
 * It fails closed: a request whose token is refused, or could not be checked, does not pass with its session cookie either.
 *
 * @param header the header `Authorization`, as {@link bearerHeader} returns it
 * @param path the path below the base, percent-encoded
 * @returns the response of a request that does not pass; otherwise `null`
 * @see docs/protocol.md 7.9
 */
export function* identify(
  context: RequestContext,
  { header, path }: { readonly header: string; readonly path: string },
  site: Site,
): MaybeAsync<HandlerResponse | null> {
  const { authenticate, sessions, calls, log } = site;
  const kind = bearerKind(context.inbound, path, site);
  if (kind === null || authenticate === undefined) return null;
  try {
    context.isBearer = true;
    const token = readBearerToken(header);
    if (kind !== "route") requireSameOrigin(context, log, kind);
    const { limits } = calls;
    const counted = kind === "call" || kind === "form" ? token : undefined;
    requireLeft(yield* awaitMaybe(limits.countAddress(context, counted))); // before anything is read for the token
    const isAccepted = yield* awaitMaybe(identifyBearer(context, token, { authenticate, sessions, log }));
    if (isAccepted) return null;
    // Not counted before: a valid token must pass when others of its address have sent refused ones.
    requireLeft(yield* awaitMaybe(limits.countRefusedCredentials(context)));
    throw invalidTokenError();
  } catch (error) {
    closeUnlessBodiless(context);
    const refused = errorResponse(callerError(error, context, log, "The check of a bearer token"), context, log);
    return { ...refused, headers: { ...refused.headers, ...PRIVATE_NO_STORE } }; // of any path, also of a route
  }
}

function bearerKind(inbound: InboundRequest, path: string, { router }: Site): BearerKind | null {
  if (path.startsWith(RPC_PREFIX)) return "call";
  if (path.startsWith(FORM_PREFIX)) return "form";
  if (isLivePath(path)) return "subscription";
  if (router(inbound.method, path)?.kind !== "route") return null;
  return findPageForm(inbound, path, router) === null ? "route" : null;
}
