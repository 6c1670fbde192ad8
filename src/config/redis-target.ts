/** A Redis, and the namespace of an application on it. */
export interface RedisTarget {
  /** `redis://…` or `rediss://…`. It may contain a password: never log it. */
  readonly url: string;
  readonly namespace: string;
}

/**
 * Returns the prefix of all keys and pub/sub channels of a namespace. In a Redis cluster, the braces make it the hash
 * tag: all keys of an application are in one slot, so that a script can use several of them.
 */
export function redisKeyPrefix(namespace: string): string {
  return `tsweb:{${namespace}}:`;
}

/** The member of a bus in Redis that returns its {@link RedisTarget}. Registered, for other copies of this package. */
export const REDIS_TARGET: unique symbol = Symbol.for("tsweb.redisTarget");

/** Returns the Redis of a bus, with which the rate limit shares its connection; `undefined` for any other bus. */
export function redisTargetOf(bus: object): RedisTarget | undefined {
  return REDIS_TARGET in bus ? (bus[REDIS_TARGET] as RedisTarget | undefined) : undefined; // no other code has the member
}
