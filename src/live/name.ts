/** The longest name of a channel, in bytes of UTF-8. */
export const MAX_NAME_BYTES = 128;

/** What would end a line of the stream, or could not be written at all. */
const UNUSABLE = /[\p{Cc}\p{Cs}]/u;

/**
 * Holds the name of a channel to its rules: 1 to 128 bytes of UTF-8, no control characters.
 *
 * @param call what it was given to, for the message: `channel`
 * @throws TypeError that says what is wrong with it
 */
export function checkName(name: unknown, call: string): asserts name is string {
  const wrong = problemOf(name);
  if (wrong) throw new TypeError(`${call}: a channel's name ${wrong}.`);
}

function problemOf(name: unknown): string | null {
  if (typeof name !== "string") return `is a string, not ${name === null ? "null" : `of type ${typeof name}`}`;
  if (name === "") return "cannot be empty";
  if (UNUSABLE.test(name)) return "holds no control characters: no line breaks, and nothing that UTF-8 cannot write";
  const bytes = Buffer.byteLength(name);
  return bytes > MAX_NAME_BYTES ? `has at most ${MAX_NAME_BYTES} bytes of UTF-8; this one has ${bytes}` : null;
}
