import type { Config } from "../config/index.ts";

/** How many texts a configuration remembers of a kind. At 500 bytes, a sign-in with some claims, a megabyte. */
const MOST = 2000;

/** Makes what remembers for each configuration by itself: another has other keys, and takes no other's word. */
export function recentOf<V>(): (config: Config) => Recent<V> {
  const made = new WeakMap<Config, Recent<V>>();
  return (config) => {
    const known = made.get(config);
    if (known) return known;
    const recent = new Recent<V>(MOST);
    made.set(config, recent);
    return recent;
  };
}

/**
 * Remembers what was made of texts lately: what verified tokens say, so that a visitor's signature is
 * computed once and not at each request. A key stands for nothing else than the whole of its text.
 *
 * Whoever holds a token learns nothing from how long it takes: texts are compared where their hashes, which
 * the process seeds at random, are the same, and so never one with another that begins like it.
 *
 * Memory is bounded: there are two generations, and when the younger is full the older is forgotten.
 */
export class Recent<V> {
  readonly #mostEach: number;
  #young = new Map<string, V>();
  #old = new Map<string, V>();

  /** @param most how many texts are remembered at the most, at least 2 */
  constructor(most: number) {
    this.#mostEach = Math.floor(most / 2);
  }

  get(text: string): V | undefined {
    const young = this.#young.get(text);
    if (young !== undefined) return young;
    const old = this.#old.get(text);
    if (old !== undefined) this.set(text, old);
    return old;
  }

  set(text: string, value: V): void {
    if (this.#young.size >= this.#mostEach) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    // A copy: a part that was cut out of a longer text would keep all of that in memory.
    this.#young.set(Buffer.from(text).toString(), value);
  }

  /** How many are remembered. */
  get size(): number {
    return this.#young.size + this.#old.size;
  }
}
