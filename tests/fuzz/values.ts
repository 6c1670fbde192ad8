/** Generates arguments: edge cases of every JSON type, and keys with a meaning in JavaScript. */
import type { FuzzRandom } from "./random.ts";

const EDGE_NUMBERS: readonly [number, ...number[]] = [
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

const EDGE_STRINGS: readonly [string, ...string[]] = [
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

/** The names of parameters, and keys that could collide with properties of prototypes. */
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

/** Returns a JSON value. A few nest about as deep as arguments may, or deeper. @see docs/protocol.md 3.2 */
export function generateValue(random: FuzzRandom, depth = 0): unknown {
  const kind = random.below(depth > 6 ? 6 : 10);
  if (kind === 0) return null;
  if (kind === 1) return random.chance(0.5);
  if (kind === 2) return random.chance(0.5) ? random.pick(EDGE_NUMBERS) : random.below(2 ** 31) / 7;
  if (kind < 5) return random.pick(EDGE_STRINGS);
  if (kind === 5) return random.text(40);
  if (kind === 6 && random.chance(0.05)) return generateNested(random);
  if (kind < 8) return Array.from({ length: random.below(5) }, () => generateValue(random, depth + 1));
  return generateObject(random, depth + 1);
}

/** Returns an object. Its own keys may be `__proto__`, `constructor` and the like. */
export function generateObject(random: FuzzRandom, depth = 0): Record<string, unknown> {
  const entries = Array.from({ length: random.below(5) }, () => {
    const key = random.chance(0.9) ? random.pick(KEYS) : random.text(12);
    return [key, generateValue(random, depth)] as const;
  });
  return Object.fromEntries(entries);
}

function generateNested(random: FuzzRandom): unknown {
  let value: unknown = generateValue(random, 9);
  for (let depth = 55 + random.below(20); depth > 0; depth--) {
    value = random.chance(0.5) ? [value] : { [random.pick(KEYS)]: value };
  }
  return value;
}
