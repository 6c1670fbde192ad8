import type { Redis } from "ioredis";
import { ConfigError } from "../../../config/index.ts";

/**
 * Loads ioredis, an optional peer dependency: only applications that use Redis install it.
 *
 * @throws ConfigError with the install command if ioredis cannot be loaded
 */
export async function loadIoredis(): Promise<typeof Redis> {
  try {
    return (await import("ioredis")).Redis;
  } catch (error) {
    const reason = error instanceof Error ? error.message.split("\n")[0] : String(error);
    throw new ConfigError([
      {
        variable: "WEB_BUS_URL",
        problem: `names a Redis, but the package ioredis could not be loaded (${reason}).`,
        fix: "Install it in the application, then build the application again: npm install ioredis",
      },
    ]);
  }
}
