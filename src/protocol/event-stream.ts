/**
 * The events of an event stream. Parsed by the browser and by `tsweb/testing`; the server writes them in live/.
 *
 * @see docs/protocol.md 10.5
 */

/** The `Content-Type` of an event stream. Here and not in media-types.ts, because only pages with live updates load it. */
export const EVENT_STREAM_TYPE = "text/event-stream";

/** One event of an event stream, with the fields as they were sent. */
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
      const [, field, value = ""] = /^([^:]*):? ?(.*)/s.exec(line) ?? [];
      if (field === "data") event.data.push(value);
      else event[field as "id"] = value; // unknown fields are stored too, and nothing reads them
      return;
    }
    const complete = event;
    event = { data: [] };
    return complete;
  };
}
