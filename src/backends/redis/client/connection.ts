import type { Redis } from "ioredis";
import type { Logger } from "../../../logging/index.ts";
import { LazyRedisClient } from "./lazy-client.ts";
import type { RedisNode } from "./nodes.ts";

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
  /**
   * Connects to the node of a cluster that a redirection names.
   *
   * @param message the error of the server: `MOVED …`
   * @returns the error to throw
   */
  follow(message: string): Error;
  /**
   * Checks whether this node of a cluster serves a key. If not, connects to the one that does.
   *
   * @throws Error if it is another one
   */
  locate(key: string): Promise<void>;
  /** The server that the connection uses, or tries to connect to next; with Sentinel, it has no meaning. */
  readonly node: RedisNode;
  /** Releases the reference. Releasing the last one closes the connection, within half a second. */
  close(): Promise<void>;
}

/**
 * The connections of this process by their complete URL and their prefix of keys, with the number of open references. The state
 * is global because the rate limit and the bus of all applications in the process share a connection.
 */
const sharedClients = new Map<string, { readonly client: LazyRedisClient; references: number }>();

/**
 * Returns a reference to this process's connection to a Redis: one connection for each URL and prefix of keys, since the
 * nodes of a cluster serve different keys.
 *
 * The connection logs to the `log` of the first caller: one line when Redis becomes unreachable and one
 * when it is reachable again. No line contains the user name or the password.
 *
 * @param url `redis://…` or `rediss://…`
 * @param keyPrefix the prefix of all keys, which contains their hash tag
 * @throws ConfigError if the path of the URL is not a database number
 */
export function openRedisConnection(url: string, log: Logger, keyPrefix = ""): RedisConnection {
  const id = `${keyPrefix} ${url}`;
  const shared = sharedClients.get(id) ?? { client: new LazyRedisClient(url, log), references: 0 };
  sharedClients.set(id, shared);
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
    follow: (message) => shared.client.follow(message),
    locate: (key) => shared.client.locate(key),
    get node() {
      return shared.client.node;
    },
    async close() {
      if (!isOpen) return;
      isOpen = false;
      shared.references--;
      if (shared.references > 0) return;
      sharedClients.delete(id);
      await shared.client.close();
    },
  };
}
