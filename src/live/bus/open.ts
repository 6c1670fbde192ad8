import type { Logger } from "../../logging/index.ts";
import type { Bus } from "./bus.ts";
import { memory } from "./memory.ts";
import { nats } from "./nats.ts";
import { redis } from "./redis.ts";

/**
 * Opens the bus that an address names: `redis://` and `rediss://` one in Redis, `nats://` and `tls://`
 * one in NATS, none that of this process. Nothing is connected before its first use;
 * `position([])` asks whether it is there.
 *
 * @throws ConfigError for an address that cannot be used; at first use, when what talks to the bus is
 *   not installed
 */
export function openBus(url: string | undefined, log: Logger): Bus {
  if (url === undefined) return memory();
  return /^rediss?:/.test(url) ? redis({ url, log }) : nats({ url, log });
}
