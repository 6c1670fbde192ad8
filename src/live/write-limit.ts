import { endOfRead, type Message, type ReadLimit, type ReadResult } from "../backends/index.ts";

/** The maximum bytes of the messages of one write: two messages of the maximum size. */
const MAX_MESSAGE_BYTES = 128 * 1024;

/** The maximum bytes of their ids and channel names. */
const MAX_OVERHEAD_BYTES = 64 * 1024;

/** The maximum number of messages of one write. */
const MAX_WRITE_MESSAGES = 256;

/** The bytes of an event besides its message: one position for each feed, and the rest, mostly the channel's name. */
const POSITION_BYTES = 40;
const EVENT_BYTES = 160;

/**
 * Returns how many messages one write of an event stream has: at most 128 KiB of messages, and at most 64 KiB of ids and
 * channel names. No more than one write is read from the bus at a time, so that a client that reads slowly or never
 * needs little memory.
 *
 * @param feeds the number of feeds of the event stream whose positions are in each id: 1 in a response to POST
 */
export function writeLimit(feeds: number): ReadLimit {
  const messages = Math.floor(MAX_OVERHEAD_BYTES / (feeds * POSITION_BYTES + EVENT_BYTES));
  limits[feeds] ??= { messages: Math.min(MAX_WRITE_MESSAGES, messages), bytes: MAX_MESSAGE_BYTES };
  return limits[feeds];
}

/** The limits by the number of feeds: each is one object for all event streams. A GET has at most 32 feeds. */
const limits: ReadLimit[] = [];

/** Returns the result of a read without what exceeds a limit, for a bus that does not observe it. */
export function limitResult(result: ReadResult, limit: ReadLimit): ReadResult {
  const messages = limitMessages(result.messages, limit);
  const last = messages.at(-1);
  return last && messages.length < result.messages.length
    ? { ...result, messages, end: last.position, more: true }
    : result;
}

/** Returns the first messages that a limit allows: at least one, unless there is none. */
export function limitMessages(messages: readonly Message[], limit: ReadLimit): readonly Message[] {
  const end = endOfRead(messages, 0, { limit, dataOf: ({ data }) => data });
  return end === messages.length ? messages : messages.slice(0, end);
}
