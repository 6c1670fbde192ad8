/**
 * Chance that can be had again: the same seed and number give the same choices, whatever else runs.
 */

/** Makes choices. */
export class Random {
  #state: number;

  /** @param number which of the runs of a seed it is for: each has its own chance, and can be had alone */
  constructor(seed: number, number: number) {
    this.#state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(number + 1, 0xc2b2ae35);
    for (let turn = 0; turn < 4; turn++) this.below(2);
  }

  /** Gives a whole number from 0, below a bound. A step of mulberry32. */
  below(bound: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  }

  /** Answers yes, so many times in a hundred. */
  chance(percent: number): boolean {
    return this.below(100) < percent;
  }

  pick<T>(items: readonly [T, ...T[]]): T {
    return items[this.below(items.length)] ?? items[0];
  }

  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.below(256)));
  }

  /** Gives letters of every kind: controls, ASCII, beyond it, halves of pairs. */
  text(length: number): string {
    const letters = Array.from({ length: this.below(length + 1) }, () => {
      const kind = this.below(10);
      if (kind < 6) return 32 + this.below(95);
      if (kind < 8) return this.below(32);
      return kind === 8 ? this.below(0x10000) : 0xd800 + this.below(0x800);
    });
    return String.fromCharCode(...letters);
  }

  /** Changes bytes here and there: takes away, doubles, turns, puts in what is special somewhere. */
  damage(bytes: Buffer): Buffer {
    let damaged = bytes;
    for (let times = 1 + this.below(4); times > 0; times--) {
      const at = this.below(damaged.length + 1);
      const [before, after] = [damaged.subarray(0, at), damaged.subarray(at)];
      const piece = damaged.subarray(at, at + this.below(16));
      damaged = this.pick<() => Buffer>([
        () => before,
        () => Buffer.concat([before, after.subarray(1)]),
        () => Buffer.concat([before, piece, after]),
        () => Buffer.concat([before, Buffer.from(this.pick(SPECIAL)), after]),
        () => Buffer.concat([before, this.bytes(1 + this.below(8)), after]),
        () => Buffer.concat([before, Buffer.from([(after[0] ?? 0) ^ (1 << this.below(8))]), after.subarray(1)]),
      ])();
    }
    return damaged;
  }
}

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
