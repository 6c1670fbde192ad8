import { createHash } from "node:crypto";
import type { Logger } from "../../../logging/index.ts";
import { commandError, isMoved, RedisConnection } from "./lazy-client.ts";

/** A reference to a connection to Redis, which several parts of the process can share. */
export interface OpenedConnection {
  readonly connection: RedisConnection;
  /** Releases the reference. Releasing the last one closes the connection, within half a second. */
  close(): Promise<void>;
}

/**
 * The connections of this process by their complete URL and their prefix of keys, with the number of open references. The state
 * is global because the rate limit and the bus of all applications in the process share a connection.
 */
const sharedConnections = new Map<string, { readonly connection: RedisConnection; references: number }>();

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
export function openRedisConnection(url: string, log: Logger, keyPrefix = ""): OpenedConnection {
  const id = `${keyPrefix} ${url}`;
  const shared = sharedConnections.get(id) ?? { connection: new RedisConnection(url, log), references: 0 };
  sharedConnections.set(id, shared);
  shared.references++;
  let isOpen = true;
  return {
    connection: shared.connection,
    async close() {
      if (!isOpen) return;
      isOpen = false;
      shared.references--;
      if (shared.references > 0) return;
      sharedConnections.delete(id);
      await shared.connection.close();
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
