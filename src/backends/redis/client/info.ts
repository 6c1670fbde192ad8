import { commandError } from "./command-error.ts";
import type { RedisConnection } from "./connection.ts";

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
