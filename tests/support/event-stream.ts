/**
 * Reads event streams as the HTML standard says, and as EventSource does.
 */

/** One event of a stream. */
export interface StreamEvent {
  /** `message` unless it has a name. */
  readonly event: string;
  /** The last id that the stream has given. */
  readonly id: string;
  /** Its `data` lines. */
  readonly data: readonly string[];
}

/** Reads a stream's events as they come; leaving the loop cancels it. `retry` goes to `onRetry`. */
export async function* readEvents(
  body: ReadableStream<Uint8Array> | null,
  onRetry?: (ms: number) => void,
): AsyncGenerator<StreamEvent> {
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
      else if (field === "retry") onRetry?.(Number(value));
    }
  }
}
