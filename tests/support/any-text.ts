/**
 * Any texts, for properties. The arbitrary of `fc.string({ unit: "binary" })` generates the same ones, but its first use lists all
 * 1.1 million characters: one to two seconds of CPU in each process, and longer than a test's time limit on a busy machine.
 */
import fc, { type Arbitrary, type StringConstraints } from "fast-check";

const SURROGATES = { first: 0xd800, count: 0x800 } as const;
const MAX_CODE_POINT = 0x10ffff;

/** Any code point that is no surrogate, as a string. */
export const anyCharacter = fc
  .integer({ min: 0, max: MAX_CODE_POINT - SURROGATES.count })
  .map((index) => String.fromCodePoint(index < SURROGATES.first ? index : index + SURROGATES.count), indexOf);

/** Returns what a character was made of, so that fast-check also generates texts such as `__proto__`, and shrinks them. */
function indexOf(text: unknown): number {
  const [only = "", ...others] = typeof text === "string" ? text : "";
  const codePoint = only.codePointAt(0);
  if (codePoint === undefined || others.length > 0 || !only.isWellFormed()) throw new Error("It is no character.");
  return codePoint < SURROGATES.first ? codePoint : codePoint - SURROGATES.count;
}

/** Returns an arbitrary of texts with any characters. */
export function anyText(constraints: Omit<StringConstraints, "unit"> = {}): Arbitrary<string> {
  return fc.string({ ...constraints, unit: anyCharacter });
}
