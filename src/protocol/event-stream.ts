/** One event of an event stream, field by field as it was written. */
export interface ServerEvent {
  /** What kind it is; missing for a message. */
  event?: string;
  id?: string;
  /** How long to wait before coming back, in milliseconds. */
  retry?: string;
  /** Its lines of data. */
  readonly data: string[];
}

/**
 * Makes a reader of an event stream: it is given line after line, and gives an event with the empty
 * line that ends it, also one without data. What is not ended is no event.
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 */
export function eventReader(): (line: string) => ServerEvent | undefined {
  let event: ServerEvent = { data: [] };
  return (line) => {
    if (line) {
      const [, field, value = ""] = /^([^:]*):? ?(.*)/s.exec(line) ?? [];
      if (field === "data") event.data.push(value);
      else event[field as "id"] = value; // fields that nobody asks for do no harm
      return;
    }
    const whole = event;
    event = { data: [] };
    return whole;
  };
}
