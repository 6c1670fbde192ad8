import type { Config } from "../config/index.ts";

/** The number of entries of each cache. A session with some claims takes about 500 bytes, a full cache 1 MB. */
const MAX_ENTRIES = 2000;

/**
 * Returns a function that returns the cache of a configuration. Each configuration has other keys, so a token that is
 * valid under one must not be found under another.
 */
export function cachePerConfig<V>(): (config: Config) => LruCache<V> {
  const caches = new WeakMap<Config, LruCache<V>>();
  return (config) => {
    const existing = caches.get(config);
    if (existing) return existing;
    const cache = new LruCache<V>(MAX_ENTRIES);
    caches.set(config, cache);
    return cache;
  };
}

/**
 * A cache that evicts the least recently used entries. It stores what verified tokens contain, by the complete
 * token, and the CSRF secrets of sign-ins. So an HMAC is computed once, and not for every request.
 *
 * The lookup time reveals nothing about stored tokens. Texts are compared only if their hashes are equal, and the hash
 * is seeded randomly in each process. So a guess is not compared with a stored token that begins like it.
 *
 * Memory is bounded. There are two generations: when the new one is full, the old one is dropped.
 */
export class LruCache<V> {
  readonly #maxPerGeneration: number;
  #newEntries = new Map<string, V>();
  #oldEntries = new Map<string, V>();

  /** @param maxEntries the maximum number of entries, at least 2 */
  constructor(maxEntries: number) {
    this.#maxPerGeneration = Math.floor(maxEntries / 2);
  }

  get(key: string): V | undefined {
    const recent = this.#newEntries.get(key);
    if (recent !== undefined) return recent;
    const old = this.#oldEntries.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  set(key: string, value: V): void {
    if (this.#newEntries.size >= this.#maxPerGeneration) {
      this.#oldEntries = this.#newEntries;
      this.#newEntries = new Map();
    }
    // The key is copied. V8 keeps the whole string in memory that a substring was cut from, here the Cookie header.
    this.#newEntries.set(Buffer.from(key).toString(), value);
  }

  /** The number of entries. */
  get size(): number {
    return this.#newEntries.size + this.#oldEntries.size;
  }
}
