import { describe, expect, test } from "vitest";
import { fillRandom, randomHex } from "./random.ts";

describe.each<[name: string, take: (bytes: number) => Uint8Array]>([
  ["randomHex", (bytes) => Buffer.from(randomHex(bytes), "hex")],
  [
    "fillRandom",
    (bytes) => {
      const target = new Uint8Array(bytes);
      fillRandom(target);
      return target;
    },
  ],
])("%s", (_, take) => {
  test("returns all requested bytes, and never the same ones again", () => {
    const values = Array.from({ length: 5_000 }, () => Buffer.from(take(16)).toString("hex")); // more than one block
    expect(values.every((value) => value.length === 32)).toBe(true);
    expect(new Set(values).size).toBe(values.length);
  });

  test("uses no byte for two values, also where a block of random bytes ends", () => {
    const bytes = Buffer.concat(Array.from({ length: 3_000 }, (_, i) => take(1 + (i % 40))));
    const sequences = Array.from({ length: bytes.length - 7 }, (_, at) => bytes.toString("hex", at, at + 8));
    expect(new Set(sequences).size).toBe(sequences.length);
  });

  test("refuses more bytes than it has at once, in place of returning fewer", () => {
    expect(take(16 * 1024)).toHaveLength(16 * 1024);
    expect(() => take(16 * 1024 + 1)).toThrow(RangeError);
  });

  test("returns every value of a byte about equally often", () => {
    const counts = new Uint32Array(256);
    for (const byte of take(16 * 1024)) counts[byte] = (counts[byte] ?? 0) + 1;
    for (let block = 0; block < 15; block++) for (const byte of take(16 * 1024)) counts[byte] = (counts[byte] ?? 0) + 1;
    // 1,024 each are expected, with a standard deviation of 32: 8 of them are never reached by chance.
    expect(Math.min(...counts)).toBeGreaterThan(768);
    expect(Math.max(...counts)).toBeLessThan(1280);
  });
});
