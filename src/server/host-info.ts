import { type InboundRequest, isCallPath } from "../http/index.ts";
import type { Logger } from "../logging/index.ts";
import { isHealthPath, type Router } from "./router.ts";

/** Data about a request that a Fetch `Request` does not contain. */
export interface RequestInfo {
  /**
   * The IP address of the other end of the connection. Behind the `WEB_TRUST_PROXY` number of proxies, it is the address of
   * the last proxy, and the client's address is read from `X-Forwarded-For`.
   */
  readonly address?: string | undefined;
}

/**
 * Returns a function that reads the address from the second argument of `app.fetch`; `undefined` if it has none.
 *
 * Hosts pass a second argument of their own: `Bun.serve({ fetch: app.fetch })` passes its server, Deno the connection,
 * Workers their environment. All clients would then count as one, without a notice. It is logged once, with the fix.
 *
 * @see docs/hosts.md
 */
export function createAddressReader(log: Logger): (info: unknown) => string | undefined {
  let isLogged = false;
  return (info) => {
    if (info === undefined) return undefined;
    const { address } = Object(info) as { readonly address?: unknown }; // any value can be read like this
    if (typeof address === "string") return address;
    const isExplicit = address === null || (address === undefined && "address" in Object(info));
    if (!isLogged && !isExplicit) {
      isLogged = true;
      log.warn({}, describeForeignInfo(info));
    }
    return undefined;
  };
}

/** The call to use, by a member of the host's own second argument. */
const FIXES: readonly (readonly [member: string, host: string, fix: string])[] = [
  [
    "requestIP",
    "Bun",
    "fetch: (request, server) => app.fetch(request, { address: server.requestIP(request)?.address })",
  ],
  [
    "remoteAddr",
    "Deno",
    "Deno.serve((request, { remoteAddr }) => app.fetch(request, { address: remoteAddr.hostname }))",
  ],
  ["incoming", "@hono/node-server", "app.fetch(c.req.raw, { address: getConnInfo(c).remote.address })"],
];

function describeForeignInfo(info: unknown): string {
  const [, host, fix] = FIXES.find(([member]) => member in Object(info)) ?? [];
  return (
    `The second argument of app.fetch has no address${host ? `: ${host} passes its own` : ""}. All clients count as one, ` +
    `in every limit. Pass the client's address: ${fix ?? "(request) => app.fetch(request, { address })"}. See docs/hosts.md`
  );
}

/**
 * Returns a function that logs a warning once for a request without `X-Forwarded-For`, if there should be proxies that add it
 * (`WEB_TRUST_PROXY`). Health checks come from no client.
 *
 * @see docs/protocol.md 2.8
 */
export function createProxyWarning(log: Logger): (inbound: InboundRequest) => void {
  let isLogged = false;
  return ({ address, pathname }) => {
    if (isLogged || isHealthPath(pathname)) return;
    isLogged = true;
    log.warn(
      { address },
      `A request for ${pathname} has no X-Forwarded-For, although WEB_TRUST_PROXY is set. All such requests count as those of one ` +
        "client, in every limit. Let the proxy add the header, and let only the proxy connect, or unset WEB_TRUST_PROXY",
    );
  };
}

/** The parts of a site that {@link createRemovedBaseWarning} uses. */
interface BaseSite {
  readonly base: string;
  readonly router: Router;
  readonly log: Logger;
}

/**
 * Returns a function that logs a warning if a host has removed the base from a path, as `mount()` of Hono, Elysia and H3
 * does. Such a request gets 404: if it were served, every page would have a second path, which a rule of a proxy or a
 * guard in front does not cover.
 *
 * The application cannot know what the host removed. It warns if the path exists below the base, and only once.
 *
 * @see docs/hosts.md
 */
export function createRemovedBaseWarning({ base, router, log }: BaseSite): (method: string, pathname: string) => void {
  let isLogged = false;
  return (method, pathname) => {
    if (isLogged || !(isCallPath(pathname, "") || router(method, pathname))) return;
    isLogged = true;
    log.warn(
      { base },
      `${method} ${pathname} got 404: the application is served below ${base}, where this path exists. If the host removes ` +
        `${base} from paths (mount() of Hono, Elysia and H3, koa-mount), pass on requests with their complete path. See docs/hosts.md`,
    );
  };
}
