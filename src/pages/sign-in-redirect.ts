import { RPCError } from "../errors.ts";
import { isSitePath, pathBelowBase, type RequestContext, redirect } from "../http/index.ts";
import { session } from "../session/index.ts";

/** The query parameter with the path of the page that required a sign-in. */
const NEXT_PARAMETER = "next";

/** The length up to which a path is passed on. A longer one could make a header that proxies and browsers refuse. */
const MAX_NEXT_CHARS = 2_000;

/** The request for which a sign-in page is chosen. */
export interface RefusedRequest {
  readonly method: string;
  /** The path, percent-encoded, without the application's base; `null` outside the base. */
  readonly path: string | null;
  /** The query with its question mark, or an empty string. */
  readonly search: string;
}

/**
 * Returns the path of the sign-in page with the path of the request as `next`, without the application's base; `null` if
 * the request is that of the sign-in page itself, which would redirect without end.
 *
 * `next` is the path that the client has requested, and only if it is one of this site: it cannot name another host.
 * Only GET and HEAD have one, because the browser requests it with GET.
 *
 * @param signIn the option `sign_in`
 * @see docs/protocol.md 11.3
 */
export function signInLocation(signIn: string, { method, path, search }: RefusedRequest): string | null {
  const [signInPath = ""] = signIn.split("?");
  if (path === signInPath) return null;
  const next = path + search;
  if (path === null || (method !== "GET" && method !== "HEAD")) return signIn;
  if (!isSitePath(next) || next.length > MAX_NEXT_CHARS) return signIn;
  return `${signIn}${signIn.includes("?") ? "&" : "?"}${NEXT_PARAMETER}=${encodeURIComponent(next)}`;
}

/**
 * Returns the redirect to the sign-in page for an error that requires a signed-in user; `null` for every other error,
 * and for a user who is signed in: the sign-in page would send that user back.
 */
export function signInRedirect(
  { inbound, url }: RequestContext,
  error: unknown,
  { base, signIn }: { readonly base: string; readonly signIn: string | null },
) {
  if (signIn === null || !(error instanceof RPCError) || error.code !== "unauthenticated") return null;
  if (session.user() !== null) return null;
  const request = { method: inbound.method, path: pathBelowBase(inbound.pathname, base), search: url.search };
  const location = signInLocation(signIn, request);
  return location === null ? null : redirect(location);
}
