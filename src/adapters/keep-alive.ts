/**
 * How our own server closes idle connections.
 *
 * With `keepAliveTimeout`, Node sets a timer after each response and removes it at the next request, which takes 6% of the
 * processor time of a small call. Here, all connections are checked every few seconds.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Connections } from "./connections.ts";
import type { NodeHandler } from "./node.ts";

/**
 * How long a connection may be idle. Longer than at the usual proxy, so that no request meets a connection that the server
 * closes.
 */
export const KEEP_ALIVE_MS = 65_000;

/** How often connections are checked: they are closed up to twice this time after {@link KEEP_ALIVE_MS}. */
const CHECK_MS = 5_000;

/** The times of {@link closeIdleConnections}, in milliseconds. */
export interface IdleTimes {
  readonly idleMs?: number;
  readonly checkMs?: number;
}

/** Closes connections that are idle, as long as the process runs. Returns a function that ends this. */
export function closeIdleConnections(
  connections: Connections,
  { idleMs = KEEP_ALIVE_MS, checkMs = CHECK_MS }: IdleTimes = {},
): () => void {
  const check = setInterval(() => connections.closeSilent(idleMs), checkMs).unref();
  return () => clearInterval(check);
}

/** The field of Node's response that it writes as `Keep-Alive: timeout=…`. It has no public name. */
interface KeptResponse extends ServerResponse {
  _keepAliveTimeout?: number;
}

/** Returns a handler whose responses tell clients how long a connection may be idle, as those of Node do. */
export function announceKeepAlive(next: NodeHandler): NodeHandler {
  return (request: IncomingMessage, response: KeptResponse) => {
    response._keepAliveTimeout = KEEP_ALIVE_MS;
    next(request, response);
  };
}
