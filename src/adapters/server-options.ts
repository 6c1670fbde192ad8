import type { IncomingMessage, ServerOptions } from "node:http";
import { BODY_TIMEOUT_SECONDS } from "../bodies/index.ts";
import { KEEP_ALIVE_MS } from "./keep-alive.ts";
import { ServerRequest } from "./server-request.ts";

/** How long a request's headers may take to arrive: limits clients that send them byte by byte (Slowloris). */
const HEADERS_TIMEOUT_MS = 10_000;

/** How often Node checks its time limits. */
const CHECK_INTERVAL_MS = 2_000;

/**
 * How long a request may take to arrive, body included. It limits bodies that no handler reads. A body that is read
 * has a shorter limit.
 */
const REQUEST_TIMEOUT_MS = HEADERS_TIMEOUT_MS + BODY_TIMEOUT_SECONDS * 1000 + 2 * CHECK_INTERVAL_MS;

/** The limits of our own server. */
export const SERVER_LIMITS = {
  requestTimeout: REQUEST_TIMEOUT_MS,
  headersTimeout: HEADERS_TIMEOUT_MS,
  connectionsCheckingInterval: CHECK_INTERVAL_MS,
  requireHostHeader: false, // requireHost() rejects such requests, with ids
} as const;

/** Returns whether the runtime is Node itself. Others provide `node:http` too, with servers of their own. */
export function isNode(versions: Readonly<Record<string, string | undefined>>): boolean {
  return versions.bun === undefined && versions.deno === undefined;
}

/**
 * Returns the options of our own server. What relies on the server of Node is for Node only: Deno would lose the bodies of
 * {@link ServerRequest}, and the connections of Bun and Deno do not show whether they are idle.
 *
 * @param versions `process.versions`
 */
export function serverOptions(versions: Readonly<Record<string, string | undefined>>): ServerOptions {
  if (!isNode(versions)) return { ...SERVER_LIMITS, keepAliveTimeout: KEEP_ALIVE_MS };
  return {
    ...SERVER_LIMITS,
    keepAliveTimeout: 0, // watchIdleConnections() closes idle connections
    IncomingMessage: ServerRequest as unknown as typeof IncomingMessage, // it inherits all members, also static ones
  };
}
