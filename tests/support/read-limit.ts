import type { ReadLimit } from "../../src/backends/index.ts";

/** Returns a limit of a read: a number of messages, and by default more bytes than these have. */
export function atMost(messages: number, bytes = Number.MAX_SAFE_INTEGER): ReadLimit {
  return { messages, bytes };
}
