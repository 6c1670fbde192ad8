import type { ServerResponse } from "node:http";

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
 * @param stallMs how long the client may read nothing; detected after one to two times as long
 */
export function destroyIfStalled(response: ServerResponse, stallMs = STALL_MS): void {
  // Node emits the timeout when neither side has sent anything for the time; a long write in progress resets it.
  response.setTimeout(stallMs, () => {
    if (response.writableLength > 0) response.destroy();
  });
}
