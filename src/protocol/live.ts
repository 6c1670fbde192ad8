/**
 * Paths, events, gaps, positions and polls of live updates. Used by the server, the browser and `tsweb/testing`. Only pages with live
 * updates load this file.
 */
import type { PresenceFrame } from "./presence.ts";
import type { QueryFrame } from "./query.ts";
import { POLL_PATH } from "./wire-names.ts";

/** The path of the event stream, below the application's base. @see docs/protocol.md 10.5 */
export const LIVE_PATH = "/__web/live";

/** The path to which a page sends its state, below the application's base. @see docs/protocol.md 10.12 */
export const PRESENCE_PATH = "/__web/presence";

/** Returns whether a path, below the application's base, is one of live updates: scripts of pages request it. */
export function isLivePath(path: string | null): boolean {
  return path === LIVE_PATH || path === POLL_PATH || path === PRESENCE_PATH;
}

/** The type of the event with who is present. @see docs/protocol.md 10.12 */
export const PRESENCE_EVENT = "presence";

/** The maximum number of feeds of a POST request. @see docs/protocol.md 10.4 */
export const MAX_FEEDS = 256;

/**
 * Returns whether a position of a channel is later than another position of the same channel. Used by the server and
 * the browser.
 *
 * The longer text is later, because its number has more digits.
 *
 * @see docs/protocol.md 10.3
 */
export function isLater(position: string, reference: string): boolean {
  return position.length === reference.length ? position > reference : position.length > reference.length;
}

/**
 * The position of a feed that starts at the oldest stored message, until the channel is read for the first time. It is
 * earlier than every position of a bus, which are longer. `AppBus.openReader` reads from it.
 *
 * @see docs/protocol.md 10.3
 */
export const START = "0";

/**
 * Why a subscription is incomplete: the missed messages are no longer stored (`trimmed`), the bus lost its history
 * (`reset`), or the feed is no longer valid (`expired`). The server sends it and the browser passes it to the page.
 *
 * @see docs/protocol.md 10.7
 */
export type GapReason = "trimmed" | "reset" | "expired";

/** The type of the event that reports a gap. @see docs/protocol.md 10.5 */
export const GAP_EVENT = "gap";

/**
 * The body of a poll. The server writes it as text in live/, and the browser reads it.
 *
 * @see docs/protocol.md 10.6
 */
export interface PollResponse {
  /** The id of an event is there in responses to POST only. */
  readonly events: readonly (readonly [channel: string, message: unknown, id?: string])[];
  /** With the time in which the page is to reload, in milliseconds, if it is longer than usual. */
  readonly gaps: readonly (readonly [channel: string, reason: GapReason, windowMs?: number | undefined])[];
  /** The position after all events, for the next request. */
  readonly cursor: string;
  /** The events of presence and queries, and of the tags of the channels, by their types: the first line and the content. */
  readonly presence?: readonly (readonly [channel: string, frame: PresenceFrame])[];
  readonly query?: readonly (readonly [id: string, frame: QueryFrame])[];
  readonly tags?: readonly (readonly [line: string, tags: Readonly<Record<string, string>>])[];
  /** Present if the response has reached the maximum size: the browser polls again at once. */
  readonly more?: true;
}

/** The `Content-Type` of an event stream. Here and not in wire-names.ts, because only pages with live updates load it. */
export const EVENT_STREAM_TYPE = "text/event-stream";

/** One event of an event stream, with the fields as they were sent. The server writes events in live/. @see docs/protocol.md 10.5 */
export interface ServerSentEvent {
  /** The type of the event; absent for a message. */
  event?: string;
  id?: string;
  /** The delay before the client reconnects, in milliseconds. */
  retry?: string;
  /** The values of its `data` lines. */
  readonly data: string[];
}

/**
 * Returns a parser of an event stream. Call it with each line. It returns an event for the empty line that ends the
 * event, even for an event without data. An event without that line is not returned.
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 */
export function createEventParser(): (line: string) => ServerSentEvent | undefined {
  let event: ServerSentEvent = { data: [] };
  return (line) => {
    if (line) {
      const [field, value = ""] = line.split(/: ?(.*)/s);
      if (field === "data") event.data.push(value);
      else event[field as "id"] = value; // unknown fields are stored too, and nothing reads them
      return;
    }
    const complete = event;
    event = { data: [] };
    return complete;
  };
}
