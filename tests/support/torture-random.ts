/** Chance that can be had again: the same seed makes the same choices. */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** Gives a source of its own to one who chooses at a pace of its own. */
  fork(): Chance {
    return new Chance(Math.floor(this.next() * 2 ** 32));
  }

  /** A number from 0, below 1: a step of Weyl's sequence, and its bits mixed. */
  next(): number {
    this.#state = (this.#state + 0x9e3779b9) >>> 0;
    let mixed = this.#state;
    for (const factor of [0x21f0aaad, 0x735a2d97]) mixed = Math.imul(mixed ^ (mixed >>> 15), factor);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  }

  /** A whole number from one to another, both among them. */
  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  /** True, so often. */
  isOnce(share: number): boolean {
    return this.next() < share;
  }

  /** Some of them, none twice. */
  some<T>(all: readonly T[], count: number): T[] {
    const left = [...all];
    return Array.from({ length: Math.min(count, left.length) }, () =>
      left.splice(this.between(0, left.length - 1), 1),
    ).flat();
  }
}
