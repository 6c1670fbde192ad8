/** Arguments that nobody would send. */
import type { Random } from "./random.ts";

const ODD_NUMBERS: readonly [number, ...number[]] = [
  0,
  -0,
  1,
  -1,
  0.1,
  1e21,
  1e-7,
  2 ** 31,
  2 ** 53,
  2 ** 53 - 1,
  -(2 ** 53),
  Number.MAX_VALUE,
  Number.MIN_VALUE,
];

const ODD_STRINGS: readonly [string, ...string[]] = [
  "",
  " ",
  "1",
  " 42 ",
  "-0",
  "1e3",
  "0x10",
  "1_000",
  "٣",
  "NaN",
  "Infinity",
  "true",
  "off",
  "null",
  "__proto__",
  "constructor",
  "2020-01-01T00:00:00Z",
  "</script><script>",
  "\u0000",
  "\ud800",
  "a".repeat(5_000),
];

/** The keys that arguments have, and those that objects should not have. */
const KEYS: readonly [string, ...string[]] = [
  "value",
  "a",
  "b",
  "of",
  "on",
  "n",
  "item",
  "quantity",
  "from",
  "code",
  "name",
  "sub",
  "roles",
  "kind",
  "after",
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "toJSON",
  "to_dict",
  "then",
  "length",
  "hasOwnProperty",
  "",
  "0",
  "é",
];

/** Gives a value of JSON, nested now and then far deeper than is allowed. */
export function oddValue(random: Random, depth = 0): unknown {
  const kind = random.below(depth > 6 ? 6 : 10);
  if (kind === 0) return null;
  if (kind === 1) return random.chance(50);
  if (kind === 2) return random.chance(50) ? random.pick(ODD_NUMBERS) : random.below(2 ** 31) / 7;
  if (kind < 5) return random.pick(ODD_STRINGS);
  if (kind === 5) return random.text(40);
  if (kind === 6 && random.chance(5)) return nested(random);
  if (kind < 8) return Array.from({ length: random.below(5) }, () => oddValue(random, depth + 1));
  return oddRecord(random, depth + 1);
}

/** Gives an object whose own keys may be `__proto__` and its like. */
export function oddRecord(random: Random, depth = 0): Record<string, unknown> {
  const entries = Array.from({ length: random.below(5) }, () => {
    const key = random.chance(90) ? random.pick(KEYS) : random.text(12);
    return [key, oddValue(random, depth)] as const;
  });
  return Object.fromEntries(entries);
}

function nested(random: Random): unknown {
  let value: unknown = oddValue(random, 9);
  for (let depth = 55 + random.below(20); depth > 0; depth--) {
    value = random.chance(50) ? [value] : { [random.pick(KEYS)]: value };
  }
  return value;
}
