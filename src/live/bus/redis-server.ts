/**
 * What a Redis guarantees for stored messages, according to its `INFO`.
 */
import type { ConfigProblem } from "../../config/index.ts";
import { infoOf, type RedisConnection } from "../../redis/index.ts";

/**
 * Whether acknowledged writes survive a crash of Redis: with an append-only file they do, without they do not. `unknown`:
 * the user lacks the permission for `INFO`.
 */
export type Durability = "durable" | "volatile" | "unknown";

/** The properties of a Redis. */
export interface RedisServerState {
  readonly durability: Durability;
  /** The `maxmemory-policy`, if Redis can delete keys by it when it is full. */
  readonly evictionPolicy: string | undefined;
}

/**
 * Reads the state of a Redis.
 *
 * @throws Error if it is unreachable
 */
export async function inspectRedis(connection: RedisConnection): Promise<RedisServerState> {
  const info = await infoOf(connection);
  if (info === undefined) return { durability: "unknown", evictionPolicy: undefined };
  const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1];
  const canEvict = policy !== undefined && policy !== "noeviction" && !/^maxmemory:0\r?$/m.test(info);
  return { durability: durabilityOf(info), evictionPolicy: canEvict ? policy : undefined };
}

function durabilityOf(info: string): Durability {
  const [, enabled] = /^aof_enabled:([01])\r?$/m.exec(info) ?? [];
  // Without this section of INFO, it is unknown whether the server has the file.
  if (enabled === undefined) return "unknown";
  return enabled === "1" ? "durable" : "volatile";
}

/** Returns the properties of a Redis that a bus in production should not have. */
export function redisProblems({ durability, evictionPolicy }: RedisServerState): ConfigProblem[] {
  return [
    ...(durability === "volatile" ? [NO_APPEND_ONLY_FILE] : []),
    ...(durability === "unknown" ? [UNKNOWN_DURABILITY] : []),
    ...(evictionPolicy === undefined ? [] : [evictionProblem(evictionPolicy)]),
  ];
}

const NO_APPEND_ONLY_FILE: ConfigProblem = {
  variable: "WEB_BUS_URL",
  problem:
    "is a Redis without append-only file: when it ends, it loses live updates that it has acknowledged. Pages are " +
    "notified of a gap and reload.",
  fix: "Set appendonly yes in redis.conf, and now: redis-cli CONFIG SET appendonly yes",
};

const UNKNOWN_DURABILITY: ConfigProblem = {
  variable: "WEB_BUS_URL",
  problem:
    "is a Redis whose user may not run INFO, so it is unknown whether it loses live updates when it ends. All pages " +
    "are notified of a gap whenever a process connects to it.",
  fix: "Grant the permission: redis-cli ACL SETUSER <user> +info. Then run this check again.",
};

function evictionProblem(policy: string): ConfigProblem {
  return {
    variable: "WEB_BUS_URL",
    problem: `is a Redis with maxmemory-policy ${policy}: when it is full, it may delete live updates.`,
    fix: "Set maxmemory-policy noeviction in redis.conf, and now: redis-cli CONFIG SET maxmemory-policy noeviction",
  };
}
