import type { AppLog } from "../logging/index.ts";
import type { RequestContext } from "./request-context.ts";
import { CONNECTION_CLOSE, RequestError } from "./request-error.ts";

/** The input of {@link isSameOrigin}. */
export interface OriginCheck {
  /** The `Origin` header, or `null` if the request has none. */
  readonly origin: string | null;
  /** The `Sec-Fetch-Site` header, or `null` if the request has none. */
  readonly fetchSite: string | null;
  /** The origins of the site. */
  readonly sites: readonly string[];
}

/**
 * Returns whether a call may come from a page of this site. This is the protection against cross-site request forgery.
 *
 * - A browser sends `Origin` with every cross-origin POST. If the header is present, it must be one of the site's
 *   origins. `null`, which sandboxed frames and local files send, is not.
 * - Without `Origin`, `Sec-Fetch-Site` must be absent, `same-origin` or `none`. Only browsers send this header.
 * - Without both headers the call is allowed. It comes from a script or another service, which has no cookies of a
 *   user that it could be tricked into sending.
 *
 * When unsure, the check refuses: an empty list of sites refuses every `Origin`, and an unknown value of
 * `Sec-Fetch-Site` is refused.
 *
 * @see docs/protocol.md 8.1
 */
export function isSameOrigin({ origin, fetchSite, sites }: OriginCheck): boolean {
  if (origin !== null) return sites.includes(origin);
  return fetchSite === null || fetchSite === "same-origin" || fetchSite === "none";
}

/** The input of {@link siteOrigins}. */
export interface SiteOriginsInput {
  /** The origins of `WEB_ORIGIN`, normalized; empty if the variable is not set. */
  readonly configured: readonly string[];
  /** The origin of the connection: its scheme and the `Host` header. */
  readonly connection: string;
  /** The `X-Forwarded-Proto` header, or `null`. It is used only with trusted proxies. */
  readonly forwardedProto: string | null;
  /** The `X-Forwarded-Host` header, or `null`. It is used only with trusted proxies. */
  readonly forwardedHost: string | null;
  /** The number of trusted proxies. */
  readonly trustProxy: number;
}

/**
 * Returns the origins of the site: those of `WEB_ORIGIN` or, if it is not set, the origin that the client used.
 *
 * When unsure, it returns none: if the forwarded scheme and host are not a valid origin, the list is empty, and
 * {@link isSameOrigin} refuses every `Origin`.
 *
 * @see docs/protocol.md 8.2
 */
export function siteOrigins(input: SiteOriginsInput): readonly string[] {
  if (input.configured.length > 0) return input.configured;
  if (input.trustProxy === 0) return [input.connection];
  const connection = new URL(input.connection);
  const proto = lastEntry(input.forwardedProto) ?? connection.protocol.slice(0, -1);
  const host = lastEntry(input.forwardedHost) ?? connection.host;
  const forwarded = proto === "http" || proto === "https" ? parseOrigin(`${proto}://${host}`) : null;
  return forwarded ? [forwarded] : [];
}

/** Returns the entry that the nearest proxy appended. The client may have sent the entries before it. */
function lastEntry(header: string | null): string | undefined {
  return header?.split(",").at(-1)?.trim() || undefined;
}

function parseOrigin(text: string): string | null {
  try {
    return new URL(text).origin;
  } catch {
    return null;
  }
}

/**
 * Returns the origins of the site for one request.
 *
 * @see docs/protocol.md 8.2
 */
function siteOriginsFor(context: RequestContext): readonly string[] {
  return siteOrigins(inputOf(context, context.config.origins));
}

/**
 * Returns the origin that the client of a request has used, for the URL that a route receives: that of the trusted proxies or, without
 * one, of the connection. With `WEB_ORIGIN`, it is one of the origins listed there: the first one if the client has used another.
 *
 * @see docs/protocol.md 11.4
 */
export function publicOrigin(context: RequestContext): string {
  const { origins } = context.config;
  const [used = context.inbound.origin] = siteOrigins(inputOf(context, []));
  return origins.length === 0 || origins.includes(used) ? used : (origins[0] ?? used);
}

/** Runs at each call. An object spread here costs a fifth of a call on Node 20. */
function inputOf({ config, inbound }: RequestContext, configured: readonly string[]): SiteOriginsInput {
  const { trustProxy } = config;
  return {
    configured,
    connection: inbound.origin,
    forwardedProto: trustProxy > 0 ? inbound.header("x-forwarded-proto") : null,
    forwardedHost: trustProxy > 0 ? inbound.header("x-forwarded-host") : null,
    trustProxy,
  };
}

/** The maximum length at which a header of a rejected request is logged, in characters: they are not rate-limited. */
const MAX_LOGGED_LENGTH = 300;

/** What is requested, with the subject of its message. */
const SUBJECTS = { call: "Calls", subscription: "Subscriptions", form: "Forms" } as const;

/**
 * Throws if a browser sent the request from a page of another origin. Calls and subscriptions without `Origin` and
 * `Sec-Fetch-Site` pass: they do not come from a browser, which would attach the user's cookies. A form without both is
 * refused: an old browser may have sent it from any site, since forms need no permission of the server. With a bearer token it
 * passes, too: no page of another site can make a browser send one.
 *
 * Call it before the request is counted. Otherwise a page of another site could use up the rate of its readers.
 *
 * @param kind what is requested, for the messages: `call`
 * @throws RequestError `forbidden`
 * @see docs/protocol.md 8.1
 */
export function requireSameOrigin(context: RequestContext, log: AppLog, kind: keyof typeof SUBJECTS): void {
  const origin = context.inbound.header("origin");
  const fetchSite = context.inbound.header("sec-fetch-site");
  const isAnonymous = origin === null && fetchSite === null;
  if (isAnonymous && (kind !== "form" || context.isBearer)) return;
  const sites = siteOriginsFor(context);
  if (!isAnonymous && isSameOrigin({ origin, fetchSite, sites })) return;
  const [loggedOrigin, loggedSite] = [origin, fetchSite].map((header) => header?.slice(0, MAX_LOGGED_LENGTH) ?? null);
  log.refused(
    "origin",
    { id: context.id, origin: loggedOrigin, fetchSite: loggedSite, sites },
    `Rejected a ${isAnonymous ? "form without Origin" : `cross-origin ${kind}`}. ${adviceFor(kind, { origin, isAnonymous })}`,
  );
  const message = isAnonymous
    ? "A form must be sent with the header Origin, as browsers send it."
    : `${SUBJECTS[kind]} from another site are not allowed.`;
  throw new RequestError("forbidden", message, { headers: CONNECTION_CLOSE });
}

function adviceFor(
  kind: keyof typeof SUBJECTS,
  { origin, isAnonymous }: { readonly origin: string | null; readonly isAnonymous: boolean },
): string {
  if (isAnonymous) return "A script must set the header to the origin of the site";
  if (kind === "form" && origin === "null") {
    return "Browsers send Origin: null for a form of a page with Referrer-Policy: no-referrer. Set the header to same-origin";
  }
  return "If the origin is this site, set WEB_ORIGIN to it, or WEB_TRUST_PROXY to the number of proxies in front";
}
