import type { Fetch } from "../client/index.ts";
import { createEventParser, GAP_EVENT, readLines } from "../protocol/index.ts";

/**
 * Yields the messages of an event stream, from the position of its only feed on. The stream is open while it is read.
 * It ends when the application stops.
 *
 * @throws Error for a feed that is rejected, and after a gap
 */
export async function* subscription(fetch: Fetch, url: string): AsyncGenerator<unknown, void> {
  const controller = new AbortController();
  try {
    const response = await fetch(url, { signal: controller.signal });
    if (!response.ok) {
      throw new Error(`subscribe: ${(await response.text()).trim()} (${response.status})`);
    }
    const parse = createEventParser();
    for await (const lines of readLines(response.body ?? new ReadableStream())) {
      for (const line of lines) {
        const { event, id, data = [] } = parse(line) ?? {};
        const [channel, detail = ""] = data;
        if (event === GAP_EVENT) throw new Error(`subscribe: messages of channel ${channel} were missed (${detail}).`);
        if (id !== undefined && event === undefined) yield JSON.parse(detail);
      }
    }
  } finally {
    controller.abort();
  }
}
