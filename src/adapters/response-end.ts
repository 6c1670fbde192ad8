import type { IncomingMessage, ServerResponse } from "node:http";
import { runOutsideRequests } from "../http/index.ts";
import { byteCountersOf, hidesByteCounters } from "./fast/index.ts";

/** The error code of HTTP/2. @see RFC 9113, section 7 */
const INTERNAL_ERROR = 2;

/** A response of Node's server. Those of HTTP/2 have a stream, and no `destroyed`. */
interface NodeResponse extends ServerResponse {
  readonly stream?: {
    readonly destroyed: boolean;
    readonly session?: { close(): void } | undefined;
    close(code: number): void;
  };
}

/**
 * Makes a connection end after a response: by `Connection: close` with HTTP/1, unless the headers were sent already, and by
 * GOAWAY with HTTP/2.
 */
export function closeAfterResponse(response: NodeResponse): void {
  if (response.stream) response.stream.session?.close();
  else response.shouldKeepAlive = false;
}

/** Returns whether a response can no longer be written, because it has ended or its client has disconnected. */
export function isClosed({ destroyed, stream }: NodeResponse): boolean {
  return destroyed || stream?.destroyed === true;
}

/** Aborts a response, so that its client does not take it for complete. */
export function abortResponse(response: NodeResponse): void {
  // `destroy()` of an HTTP/2 response ends its stream without an error.
  if (response.stream) response.stream.close(INTERNAL_ERROR);
  else response.destroy();
}

// Lingering close: a response that closes its connection while the request's body is still being sent. The response
// is written at once, and the connection is closed only after the rest of the body has been read.
//
// A connection that is closed with unread bytes is reset, and the client loses the response: it would see a broken
// connection instead of a 413.
// See RFC 9112, section 9.6.

/** How many bytes of the rest of a body are read at most. */
const MAX_BYTES = 16 * 1024 * 1024;

/** How long the client may take to send the rest. */
const MAX_MS = 5_000;

/**
 * Returns whether a response has `Connection: close`.
 *
 * @param headers names, in lower case, and values, alternating as in Node's `rawHeaders`
 */
export function closesConnection(headers: readonly string[]): boolean {
  for (let at = 0; at < headers.length; at += 2) {
    if (headers[at] === "connection" && headers[at + 1] === "close") return true;
  }
  return false;
}

/** Ends a response after the rest of the request's body was read and discarded, or its limit was reached. */
export async function endAfterBody(response: ServerResponse): Promise<void> {
  await discardBody(response.req);
  response.end();
}

function discardBody(request: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let bytes = 0;
    const count = (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MAX_BYTES) end();
    };
    // A route that has not read the whole body pauses it.
    const resume = () => process.nextTick(() => request.resume());
    const end = () => {
      clearTimeout(deadline);
      request.off("data", count).off("pause", resume).off("end", end).off("close", end).off("error", end);
      resolve();
    };
    const deadline = setTimeout(end, MAX_MS);
    request.on("data", count).on("pause", resume).on("end", end).on("close", end).on("error", end);
    if (request.complete || request.readableEnded || request.destroyed) end();
    else request.resume();
  });
}

/** How long a client may read nothing of a response that has unsent bytes. */
const STALL_MS = 30_000;

/** How long a connection may be silent before TCP keep-alive probes whether its other end still exists. */
const PROBE_MS = 15_000;

/**
 * Destroys a streamed response whose client has disconnected although the connection looks open.
 *
 * - A client that has ended its half of the connection has probably disconnected: one that has closed the whole
 *   connection looks the same until something is sent. Node would end our half only after all waiting bytes were taken.
 * - A client that reads none of the waiting bytes is stalled, see {@link destroyIfStalled}.
 * - A client without waiting bytes is probed by TCP keep-alive: a machine that lost power or its network is detected
 *   within half a minute, even when the stream is silent for hours.
 *
 * @param stallMs how long the client may read nothing; detected after one to two times as long
 */
export function destroyIfDisconnected(response: ServerResponse, stallMs = STALL_MS): void {
  destroyIfStalled(response, stallMs);
  // An HTTP/2 stream ends with its request. The protocol has its own means: RST_STREAM and PING.
  if (response.req.httpVersionMajor > 1) return;
  const { socket } = response;
  if (!socket) return; // it has disconnected already
  const destroy = () => void response.destroy();
  socket.once("end", destroy).setKeepAlive(true, PROBE_MS);
  response.once("close", () => socket.off("end", destroy));
}

/**
 * Destroys a response whose client reads nothing of it. Without this limit, an attacker who requests large pages on
 * many connections and reads none of them would fill the server's memory.
 *
 * It measures what is sent. Node's socket timeout is not suitable: each received byte restarts it, and a client may send line
 * breaks before its next request, or PING frames, without end.
 *
 * Call it when bytes wait, or at the start of a body that is written in parts.
 *
 * @param stallMs how long the client may read nothing; detected after one to two times as long
 * @see RFC 9112, section 2.2
 */
export function destroyIfStalled(response: ServerResponse, stallMs = STALL_MS): void {
  if (isClosed(response)) return;
  let sentBefore = progressOf(response);
  let hasDrained = false;
  // The timer belongs to no request: it must not keep the request and its user in memory.
  const timer = runOutsideRequests(() => setInterval(check, stallMs)).unref();
  if (isMultiplexed(response)) {
    response.on("drain", () => {
      hasDrained = true;
    });
  }
  response.once("close", () => clearInterval(timer));

  function check(): void {
    const sent = progressOf(response);
    if (sent !== null && sent === sentBefore && !hasDrained) abortResponse(response);
    sentBefore = sent;
    hasDrained = false;
  }
}

/**
 * Returns whether the progress of one long write is unknown until all of it was sent: with HTTP/2, and on runtimes other than
 * Node that do not count the bytes of a connection. A client that reads slowly would be taken for a stalled one, so write in parts.
 */
export function hidesProgressOfWrite(response: ServerResponse): boolean {
  return isMultiplexed(response) || hidesByteCounters(response.socket);
}

function isMultiplexed({ req }: ServerResponse): boolean {
  return req.httpVersionMajor > 1;
}

/** Returns a number that changes whenever bytes of the response are sent; `null` if none wait. */
function progressOf(response: ServerResponse): number | null {
  const { writableLength, socket } = response;
  if (writableLength === 0) return null;
  // The connection is shared by many responses. What waits of this one becomes less with each part that is sent.
  if (isMultiplexed(response)) return -writableLength;
  const counters = byteCountersOf(socket);
  if (counters) return counters.bytesWritten - counters.writeQueueSize;
  return (socket?.bytesWritten ?? 0) - writableLength; // on Bun, `writableLength` counts bytes; on Deno, writes
}
