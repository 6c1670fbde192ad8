/**
 * Reads event streams by the HTML standard, as `EventSource` does.
 */

/** One event. */
export interface StreamEvent {
  /** The name of the event; `message` if it has none. */
  readonly event: string;
  /** The last id of the stream so far. */
  readonly id: string;
  /** Its `data` lines. */
  readonly data: readonly string[];
}

/** Yields the events of a stream as they arrive. Leaving the loop cancels the stream. */
export async function* readEvents(body: AsyncIterable<Uint8Array> | null): AsyncGenerator<StreamEvent> {
  let rest = "";
  let id = "";
  let event = "message";
  let data: string[] = [];
  const decoder = new TextDecoder();
  for await (const chunk of body ?? []) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const [, field = "", value = ""] = /^([^:]*):? ?(.*)$/su.exec(line) ?? [];
      if (line === "") {
        if (data.length > 0) yield { event, id, data };
        event = "message";
        data = [];
      } else if (field === "data") data.push(value);
      else if (field === "id") id = value;
      else if (field === "event") event = value;
    }
  }
}
