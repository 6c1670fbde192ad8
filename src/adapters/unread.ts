import type { ServerResponse } from "node:http";

/** How long an answer may wait for a client that takes nothing of it. */
const MOST_MS = 30_000;

/** How long a connection may be silent before its other end is asked whether it is still there. */
const PROBE_MS = 15_000;

/**
 * Ends a streamed answer whose client is not there any more, though its connection looks open.
 *
 * A client that has ended its half of the connection is gone: one that closed all of it looks the
 * same from here, until something is sent to it. Node ends our half then, but only once all that
 * waits has been taken. A client that takes nothing for the time is cut off, and with it what the answer is made of. One
 * that has nothing to take is probed by the system: a machine that went away without a word, a
 * cable that was pulled, is noticed within half a minute, though the stream be silent for hours.
 *
 * @param mostMs how long it may take nothing; noticed between this and twice as long
 */
export function endUnread(response: ServerResponse, mostMs = MOST_MS): void {
  cutUntaken(response, mostMs);
  const { socket } = response;
  if (!socket) return; // it has gone already
  const leave = () => void response.destroy();
  socket.once("end", leave).setKeepAlive(true, PROBE_MS);
  response.once("close", () => socket.off("end", leave));
}

/**
 * Cuts off a client that takes nothing of an answer: what waits for it is memory of ours, and whoever asks
 * for large pages on many connections and reads none of them would have as much of it as they like.
 *
 * @param mostMs how long it may take nothing; noticed between this and twice as long
 */
export function cutUntaken(response: ServerResponse, mostMs = MOST_MS): void {
  // Node calls it when neither end has sent anything for the time; a long write that goes on is no silence.
  response.setTimeout(mostMs, () => {
    if (response.writableLength > 0) response.destroy();
  });
}
