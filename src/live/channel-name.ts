import { MAX_CHANNEL_NAME_BYTES } from "../protocol/index.ts";

/** Control characters, which would end a line of the event stream, and unpaired surrogates, which UTF-8 cannot encode. */
const INVALID_CHARACTER = /[\p{Cc}\p{Cs}]/u;

/**
 * Checks the name of a channel: 1 to 128 bytes of UTF-8, no control characters.
 *
 * @param caller the public function, for the message: `channel`
 * @throws TypeError that names the problem
 * @see docs/protocol.md 10.1
 */
export function checkChannelName(name: unknown, caller: string): asserts name is string {
  const problem = describeProblem(name);
  if (problem) throw new TypeError(`${caller}: the name of a channel ${problem}.`);
}

function describeProblem(name: unknown): string | null {
  if (typeof name !== "string") {
    return `must be a string; received ${name === null ? "null" : `a value of type ${typeof name}`}`;
  }
  if (name === "") return "must not be empty";
  if (INVALID_CHARACTER.test(name)) {
    return `must not contain control characters or unpaired surrogates; received ${excerpt(name)}`;
  }
  const bytes = Buffer.byteLength(name);
  if (bytes <= MAX_CHANNEL_NAME_BYTES) return null;
  return `must have at most ${MAX_CHANNEL_NAME_BYTES} bytes of UTF-8; received ${bytes} bytes, ${excerpt(name)}`;
}

function excerpt(name: string): string {
  return JSON.stringify(name.length > 40 ? `${name.slice(0, 40)}…` : name);
}
