import type { Redis } from "ioredis";
import { ConfigError } from "../config/index.ts";

/**
 * Loads the client for Redis, which applications install only when they use it.
 *
 * @throws ConfigError that says to install it, when it cannot be loaded
 */
export async function loadIoredis(): Promise<typeof Redis> {
  try {
    return (await import("ioredis")).Redis;
  } catch (error) {
    const reason = error instanceof Error ? error.message.split("\n")[0] : String(error);
    throw new ConfigError([
      {
        variable: "WEB_BUS_URL",
        problem: `names a Redis, and ioredis, the package that talks to it, could not be loaded (${reason}).`,
        mend: "Install it in the application, and build that again: npm install ioredis",
      },
    ]);
  }
}
