import type { Redis } from "ioredis";
import type { Logger } from "../logging/index.ts";
import { LazyRedisClient } from "./lazy-client.ts";

/** A reference to a connection to Redis, which several parts of the process can share. */
export interface RedisConnection {
  /** The host, port and database, without user name and password: safe to log. */
  readonly address: string;
  /** Whether Redis is reachable, as far as this process knows. */
  readonly isReachable: boolean;
  /** How often the connection has been established. After a reconnection, the server may have lost its data. */
  readonly generation: number;
  /**
   * Returns the client. The first call of any part connects; it resolves when that attempt has succeeded
   * or failed.
   *
   * While Redis is unreachable, the client rejects every command at once, and the commands that were in
   * flight when the connection was lost. Redis may still have run those. The client reconnects by itself.
   *
   * @throws ConfigError if ioredis is not installed, or if Redis refuses the database number
   */
  client(): Promise<Redis>;
  /** Returns the error of an operation while there is no connection: that it is unreachable, or why it is not used. */
  unreachableError(): Error;
  /**
   * Connects again, because this server cannot be used now. The reason is logged, and is that of errors until
   * {@link accept} is called.
   *
   * @param reason a sentence
   * @returns the error to throw
   */
  refuse(reason: string): Error;
  /** Records that the server can be used. */
  accept(): void;
  /** Releases the reference. Releasing the last one closes the connection, within half a second. */
  close(): Promise<void>;
}

/**
 * The connections of this process by their complete URL, with the number of open references. The state
 * is global because the rate limit and the bus of all applications in the process share a connection.
 */
const sharedClients = new Map<string, { readonly client: LazyRedisClient; references: number }>();

/**
 * Returns a reference to this process's connection to a Redis: one connection for each URL.
 *
 * The connection logs to the `log` of the first caller: one line when Redis becomes unreachable and one
 * when it is reachable again. No line contains the user name or the password.
 *
 * @param url `redis://…` or `rediss://…`
 * @throws ConfigError if the path of the URL is not a database number
 */
export function openRedisConnection(url: string, log: Logger): RedisConnection {
  const shared = sharedClients.get(url) ?? { client: new LazyRedisClient(url, log), references: 0 };
  sharedClients.set(url, shared);
  shared.references++;
  let isOpen = true;
  return {
    address: shared.client.address,
    get isReachable() {
      return shared.client.isReachable;
    },
    get generation() {
      return shared.client.generation;
    },
    client: () => shared.client.get(),
    unreachableError: () => shared.client.unreachableError(),
    refuse: (reason) => shared.client.refuse(reason),
    accept: () => shared.client.accept(),
    async close() {
      if (!isOpen) return;
      isOpen = false;
      shared.references--;
      if (shared.references > 0) return;
      sharedClients.delete(url);
      await shared.client.close();
    },
  };
}
