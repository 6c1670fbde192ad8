import type { RequestContext } from "./request-context.ts";

/** What a decision about a request's origin rests on. */
export interface OriginFacts {
  /** The `Origin` header, or `null` when there is none. */
  readonly origin: string | null;
  /** The `Sec-Fetch-Site` header, or `null` when there is none. */
  readonly fetchSite: string | null;
  /** The origins that are this site. */
  readonly sites: readonly string[];
}

/**
 * Answers whether a call may have come from a page of this site.
 *
 * A browser puts `Origin` on every cross-origin POST, so a foreign one, and `null` (a sandboxed
 * frame, a file), is refused. Without `Origin`, `Sec-Fetch-Site` decides where a browser sent it.
 * Scripts and other services send neither and pass: they hold no one's cookie by accident.
 *
 * @see the interface, "CSRF checks"
 */
export function isSameOrigin({ origin, fetchSite, sites }: OriginFacts): boolean {
  if (origin !== null) return sites.includes(origin);
  return fetchSite === null || fetchSite === "same-origin" || fetchSite === "none";
}

/** What a site's own origin is read from. */
export interface SiteFacts {
  /** `WEB_ORIGIN`, read and normalised. */
  readonly configured: readonly string[];
  /** The connection's own scheme and host. */
  readonly connection: string;
  /** `X-Forwarded-Proto` and `X-Forwarded-Host`; believed only behind a proxy that is trusted. */
  readonly forwardedProto: string | null;
  readonly forwardedHost: string | null;
  readonly trustProxy: number;
}

/** Gives the origins that are this site: the configured ones, else the one the visitor used. */
export function siteOrigins(facts: SiteFacts): readonly string[] {
  if (facts.configured.length > 0) return facts.configured;
  if (facts.trustProxy === 0) return [facts.connection];
  const connection = new URL(facts.connection);
  const proto = last(facts.forwardedProto) ?? connection.protocol.slice(0, -1);
  const host = last(facts.forwardedHost) ?? connection.host;
  const forwarded = proto === "http" || proto === "https" ? parseOrigin(`${proto}://${host}`) : null;
  return forwarded ? [forwarded] : [];
}

/** The value the nearest proxy wrote: what stands before it may be the client's own invention. */
function last(header: string | null): string | undefined {
  return header?.split(",").at(-1)?.trim() || undefined;
}

function parseOrigin(text: string): string | null {
  try {
    return new URL(text).origin;
  } catch {
    return null;
  }
}

/** Gives the origins that are this site, for one request. */
export function siteOriginsFor({ config, inbound }: RequestContext): readonly string[] {
  return siteOrigins({
    configured: config.origins,
    connection: inbound.origin,
    forwardedProto: inbound.header("x-forwarded-proto"),
    forwardedHost: inbound.header("x-forwarded-host"),
    trustProxy: config.trustProxy,
  });
}

let lastStart = "";
let lastOrigin = "";

/**
 * Gives the origin of an address. The last one is remembered: a server is mostly asked under one
 * name, and reading it out of an address anew costs as much as all other checks of a call.
 */
export function originOf({ href }: URL): string {
  const start = href.slice(0, href.indexOf("/", "https://".length));
  if (start !== lastStart) {
    lastOrigin = new URL(start).origin;
    lastStart = start;
  }
  return lastOrigin;
}
