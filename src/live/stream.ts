import { Pushed, type Reply } from "../http/index.ts";
import type { Asked } from "./asked.ts";
import { Connection } from "./connection.ts";
import type { Hub } from "./hub.ts";

const HEADERS = {
  "content-type": "text/event-stream",
  // A proxy that compresses would hold messages back until its block is full.
  "cache-control": "private, no-store, no-transform",
  "x-accel-buffering": "no",
} as const;

/**
 * Answers a page that listens: an event stream with the messages of all its feeds.
 *
 * @param release told once, when the connection is over
 * @see the interface, "Event stream"
 */
export function answerStream({ readers, lost }: Asked, hub: Hub, release: () => void): Reply {
  const body = new Pushed((sink) => {
    const connection = new Connection(hub, readers, { sink, onClosed: release });
    connection.start(lost);
    return connection;
  });
  return { status: 200, headers: HEADERS, body };
}
