import type { Fetch } from "../client/index.ts";
import { createEventParser, readLines } from "../protocol/index.ts";

/**
 * Reads the messages of an event stream, from the position of its one feed on. It is open while it is read,
 * and ends with the application's end.
 *
 * @throws Error for a feed that is refused, and once messages are lost for good
 */
export async function* subscription(fetch: Fetch, url: string): AsyncGenerator<unknown, void> {
  const controller = new AbortController();
  try {
    const response = await fetch(url, { signal: controller.signal });
    if (!response.ok) {
      throw new Error(`subscribe: ${(await response.text()).trim()} (${response.status})`);
    }
    const read = createEventParser();
    for await (const lines of readLines(response.body ?? new ReadableStream())) {
      for (const line of lines) {
        const { event, id, data = [] } = read(line) ?? {};
        const [channel, second = ""] = data;
        if (event === "gap") throw new Error(`subscribe: messages to ${channel} are lost (${second}).`);
        if (id !== undefined && event === undefined) yield JSON.parse(second);
      }
    }
  } finally {
    controller.abort();
  }
}
