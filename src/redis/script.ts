import { createHash } from "node:crypto";
import type { RedisConnection } from "./connection.ts";

/** A Lua script: what runs in Redis as one step. */
export interface Script {
  readonly text: string;
  /** The name under which Redis keeps it: the SHA-1 of its text. */
  readonly sha: string;
}

/** Describes a script, once, where it is written. */
export function defineScript(text: string): Script {
  return { text, sha: createHash("sha1").update(text).digest("hex") };
}

/** What a script is given. */
export interface ScriptInput {
  /** Every key that it touches: in a cluster they have to lie together. */
  readonly keys: readonly string[];
  readonly args: readonly string[];
}

/**
 * Runs a script: by its name, in one round trip; with its whole text where Redis does not have it,
 * after a restart say.
 *
 * @returns what it returned
 * @throws Error when Redis is away, at once, or by its own reply
 */
export async function runScript(
  connection: RedisConnection,
  script: Script,
  { keys, args }: ScriptInput,
): Promise<unknown> {
  const redis = await connection.client();
  // The client would refuse it too, in words about its own settings.
  if (redis.status !== "ready") throw new Error(`Redis at ${connection.address} is away.`);
  try {
    return await redis.evalsha(script.sha, keys.length, ...keys, ...args);
  } catch (error) {
    if (!isUnknownScript(error)) throw error;
    return redis.eval(script.text, keys.length, ...keys, ...args);
  }
}

/** The first word of an error that Redis replies is its code. */
function isUnknownScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith("NOSCRIPT ");
}
