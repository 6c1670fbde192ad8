import type { Logger } from "../../logging/index.ts";
import type { Bus } from "./bus.ts";
import { memory } from "./memory.ts";
import { nats } from "./nats.ts";
import { redis } from "./redis.ts";

/**
 * Opens the bus of a URL: `redis://` and `rediss://` in Redis, `nats://` and `tls://` in NATS, and without a
 * URL in the memory of this process. It connects at its first use; `position([])` checks whether the server
 * is reachable.
 *
 * @param url `WEB_BUS_URL`, whose scheme `config` has checked
 * @throws ConfigError if the path of a Redis URL is not a database number. If the client package is not
 *   installed, every operation of the bus rejects with a ConfigError.
 */
export function openBus(url: string | undefined, log: Logger): Bus {
  if (url === undefined) return memory();
  return /^rediss?:/.test(url) ? redis({ url, log }) : nats({ url, log });
}
