import { type RedisTarget, redisTargetOf } from "../../config/index.ts";
import type { Logger } from "../../logging/index.ts";
import type { Bus } from "./bus.ts";
import { memory } from "./memory.ts";
import { nats } from "./nats.ts";
import { redis } from "./redis.ts";

/** The settings with which the bus of an application is opened. */
export interface BusSource {
  /** `WEB_BUS_URL`, whose scheme `config` has checked; `undefined`: messages stay in memory. */
  readonly busUrl: string | undefined;
  /** The namespace of the application on the server of the bus. */
  readonly busNamespace: string;
  readonly log: Logger;
}

/**
 * Opens the bus of a URL: `redis://` and `rediss://` in Redis, `nats://` and `tls://` in NATS, and without a
 * URL in the memory of this process. It connects at its first use; `position([])` checks whether the server
 * is reachable.
 *
 * @throws ConfigError if the path of a Redis URL is not a database number. If the client package is not
 *   installed, every operation of the bus rejects with a ConfigError.
 */
export function openBus({ busUrl: url, busNamespace: namespace, log }: BusSource): Bus {
  if (url === undefined) return memory();
  return isRedisUrl(url) ? redis({ url, namespace, log }) : nats({ url, namespace, log });
}

/**
 * Returns the Redis of a bus, in which the rate limit counts too; `undefined` if the bus is none in Redis.
 *
 * @param bus `null` if it has not been opened: then it is the one that {@link openBus} would open
 */
export function redisOf(bus: Bus | null, { busUrl: url, busNamespace: namespace }: BusSource): RedisTarget | undefined {
  if (bus) return redisTargetOf(bus);
  return url !== undefined && isRedisUrl(url) ? { url, namespace } : undefined;
}

function isRedisUrl(url: string): boolean {
  return /^rediss?:/.test(url);
}
