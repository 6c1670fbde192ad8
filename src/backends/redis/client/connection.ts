import { createHash } from "node:crypto";
import type { Redis } from "ioredis";
import type { Logger } from "../../../logging/index.ts";
import { commandError, isMoved, LazyRedisClient } from "./lazy-client.ts";
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

/** A Lua script, which Redis runs atomically. */
export interface Script {
  readonly text: string;
  /** The SHA-1 of the text in hexadecimal digits: the name by which Redis caches the script. */
  readonly sha: string;
}

/** Returns a script with its hash. Call it at module level, because the hash is computed each time. */
export function defineScript(text: string): Script {
  return { text, sha: createHash("sha1").update(text).digest("hex") };
}

/** The keys and arguments of one run of a script. */
export interface ScriptInput {
  /** Every key that the script reads or writes. In a cluster, they have to be in one hash slot. */
  readonly keys: readonly string[];
  readonly args: readonly string[];
}

/**
 * Runs a script in one round trip with EVALSHA. If Redis has not cached the script, for example after a
 * restart, it is sent again with EVAL.
 *
 * @returns the reply of the script
 * @throws Error at once if Redis is unreachable, or the error that Redis replied
 * @throws Error if the Redis is a node of a cluster that does not serve the keys; the connection then changes to the one
 *   that does
 */
export async function runScript(
  connection: RedisConnection,
  script: Script,
  { keys, args }: ScriptInput,
): Promise<unknown> {
  const redis = await connection.client();
  // Without this check ioredis rejects the command too, but its message is about its own options.
  if (redis.status !== "ready") throw connection.unreachableError();
  try {
    return await redis.evalsha(script.sha, keys.length, ...keys, ...args);
  } catch (error) {
    if (isMoved(error)) throw connection.follow(error.message);
    if (!isScriptNotCached(error)) throw commandError(error, connection.address);
  }
  try {
    return await redis.eval(script.text, keys.length, ...keys, ...args);
  } catch (error) {
    throw commandError(error, connection.address);
  }
}

/** Returns whether Redis replied NOSCRIPT. The message of a reply's error starts with the error code. */
function isScriptNotCached(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith("NOSCRIPT ");
}

/**
 * Returns the reply of `INFO`; `undefined` if the user lacks the permission for it, as with some hosted servers.
 *
 * @throws Error if Redis is unreachable
 */
export async function infoOf(connection: RedisConnection): Promise<string | undefined> {
  const redis = await connection.client();
  if (redis.status !== "ready") throw connection.unreachableError();
  try {
    return await redis.info();
  } catch (error) {
    if (error instanceof Error && error.message.startsWith("NOPERM ")) return undefined;
    throw commandError(error, connection.address);
  }
}
