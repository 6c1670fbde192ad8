import { SeededRandom } from "#test/seeded-random";

/** A pseudo-random generator of the parts of requests. The same seed and number give the same sequence. */
export class FuzzRandom extends SeededRandom {
  /** @param number the number of the run. Each run has its own sequence, so that it can be repeated alone. */
  constructor(seed: number, number: number) {
    super(Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(number + 1, 0xc2b2ae35));
  }

  /** Returns a whole number from 0 to `bound` - 1. */
  below(bound: number): number {
    return this.integer(0, bound - 1);
  }

  /** Returns one of the items. */
  pick<T>(items: readonly [T, ...T[]]): T {
    return items[this.below(items.length)] ?? items[0];
  }

  /** Returns `length` bytes. */
  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.below(256)));
  }

  /** Returns up to `maxLength` characters: control characters, ASCII, others, unpaired surrogates. */
  text(maxLength: number): string {
    const codeUnits = Array.from({ length: this.below(maxLength + 1) }, () => {
      const kind = this.below(10);
      if (kind < 6) return 32 + this.below(95);
      if (kind < 8) return this.below(32);
      return kind === 8 ? this.below(0x10000) : 0xd800 + this.below(0x800);
    });
    return String.fromCharCode(...codeUnits);
  }

  /** Returns a copy with up to four changes: bytes removed, repeated, inserted, or with a bit flipped. */
  mutate(bytes: Buffer): Buffer {
    let mutated = bytes;
    for (let times = 1 + this.below(4); times > 0; times--) {
      const at = this.below(mutated.length + 1);
      const [before, after] = [mutated.subarray(0, at), mutated.subarray(at)];
      const piece = mutated.subarray(at, at + this.below(16));
      mutated = this.pick<() => Buffer>([
        () => before,
        () => Buffer.concat([before, after.subarray(1)]),
        () => Buffer.concat([before, piece, after]),
        () => Buffer.concat([before, Buffer.from(this.pick(SPECIAL)), after]),
        () => Buffer.concat([before, this.bytes(1 + this.below(8)), after]),
        () => Buffer.concat([before, Buffer.from([(after[0] ?? 0) ^ (1 << this.below(8))]), after.subarray(1)]),
      ])();
    }
    return mutated;
  }
}

/** Sequences with a meaning in HTTP, JSON, paths or JavaScript. */
const SPECIAL: readonly [string, ...string[]] = [
  "\0",
  "\r\n",
  "\n\n",
  '"',
  "\\",
  "\\u0000",
  "{}",
  "[",
  ",",
  ":",
  "\ufeff",
  "\u2028",
  "%00",
  "..",
  "//",
  "null",
  "-",
  "1e400",
  "__proto__",
  " ",
];
