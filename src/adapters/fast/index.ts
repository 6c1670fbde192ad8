/**
 * What this adapter does faster than the ordinary way, and every member of Node that it uses without a public name.
 *
 * Each fast way has the ordinary one next to it. `TSWEB_ORDINARY_HTTP` selects the ordinary one, for tests and benchmarks: `all`, or
 * names of {@link FastWay} separated by commas. It is read once, when the process starts. No application needs it.
 */
import type { IncomingMessage, ServerOptions } from "node:http";
import { chunkedConnection, convertText, endInOneWrite, endOrdinarily, measureText } from "./bodies.ts";
import { KEEP_ALIVE_MS } from "./keep-alive.ts";
import { RequestWithKnownHeaders } from "./known-headers.ts";
import { writeOrdinaryHead, writePreparedHead } from "./prepared-head.ts";
import { ServerRequest } from "./server-request.ts";

/** The fast ways, each of which can be left out. */
type FastWay = "heads" | "requests" | "headers" | "texts" | "writes" | "chunks" | "idle";

// Lives as long as the process, whose environment it is read from.
const ordinaryWays = (process.env.TSWEB_ORDINARY_HTTP ?? "").split(",");

/** Returns whether a way is used. */
export const isFast = (way: FastWay): boolean => !ordinaryWays.includes(way) && !ordinaryWays.includes("all");

export const writeHeadWithLength = isFast("heads") ? writePreparedHead : writeOrdinaryHead;
export const encodeText = isFast("texts") ? convertText : measureText;
export const endWithText = isFast("writes") ? endInOneWrite : endOrdinarily;
export const connectionForChunks: typeof chunkedConnection = isFast("chunks") ? chunkedConnection : () => null;

/** Returns whether the runtime is Node itself. Others provide `node:http` too, with servers of their own. */
export function isNode(versions: Readonly<Record<string, string | undefined>>): boolean {
  return versions.bun === undefined && versions.deno === undefined;
}

/** Returns whether our own server closes idle connections, in place of Node. Those of Bun and Deno do not show whether they are idle. */
export function closesIdleConnections(versions: Readonly<Record<string, string | undefined>>): boolean {
  return isFast("idle") && isNode(versions);
}

/**
 * Returns the options of our own server that a fast way needs. Deno would lose the bodies of a {@link ServerRequest}.
 *
 * @param versions `process.versions`
 */
export function fastServerOptions(versions: Readonly<Record<string, string | undefined>>): ServerOptions {
  const keepAliveTimeout = closesIdleConnections(versions) ? 0 : KEEP_ALIVE_MS;
  if (!isFast("requests") || !isNode(versions)) return { keepAliveTimeout };
  const Request = isFast("headers") ? RequestWithKnownHeaders : ServerRequest;
  // They inherit all members, also static ones.
  return { keepAliveTimeout, IncomingMessage: Request as unknown as typeof IncomingMessage };
}

export { chunkOf } from "./bodies.ts";
export { announceKeepAlive, watchIdleConnections } from "./keep-alive.ts";
export {
  arrivingConnections,
  byteCountersOf,
  createServer,
  currentResponse,
  hidesByteCounters,
  isHttpServer,
  maxHeaderSize,
  releaseSentHeaders,
  STATUS_CODES,
  stopParsing,
  tlsOf,
} from "./node-http.ts";
export { ServerRequest, takeArrivedBody } from "./server-request.ts";
