import { createHash } from "node:crypto";
import { commandError, isMoved, type RedisConnection } from "./connection.ts";

/** Runs an operation on a prepared connection. Retries while Redis is unreachable, for up to two seconds. */
export type RunOnConnection = <T>(operation: (connection: RedisConnection) => Promise<T>) => Promise<T>;

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
