import { ConfigError, type ConfigProblem } from "../../config/index.ts";
import type { Logger } from "../../logging/index.ts";
import { createEpoch, REMEMBER_FINGERPRINT_MS, SecretsCheck } from "../bus/index.ts";
import { infoOf, type RedisConnection, runScript } from "./client/index.ts";
import type { RedisKeys } from "./keys.ts";
import { START_EPOCH, STORE_FINGERPRINTS } from "./scripts.ts";

/** The options of a {@link RedisPreparation}. */
export interface RedisPreparationOptions {
  readonly connection: RedisConnection;
  readonly keys: RedisKeys;
  readonly namespace: string;
  readonly log: Logger;
}

/**
 * What a bus does before it uses a connection: it finds out how durable Redis is, and checks the secrets of the
 * application. After a reconnection both can be different, because Redis can have lost its data.
 */
export class RedisPreparation {
  readonly #options: RedisPreparationOptions;
  readonly #secretsCheck: SecretsCheck;
  /** The state of the connection with that generation. */
  #current: { readonly generation: number; readonly state: Promise<RedisServerState> } | undefined;
  #hasWarned = false;

  constructor(options: RedisPreparationOptions) {
    this.#options = options;
    const { connection, keys, namespace, log } = options;
    this.#secretsCheck = new SecretsCheck({
      ...{ namespace, log, deleteCommand: keys.deleteSecretsCommand },
      store: async (fingerprints) => {
        const args = [String(REMEMBER_FINGERPRINT_MS), ...fingerprints];
        return (await runScript(connection, STORE_FINGERPRINTS, { keys: [keys.secrets], args })) === 1;
      },
    });
  }

  /** Adds fingerprints of the application's secrets, which are checked before the next operation. */
  identify(fingerprints: readonly string[]): void {
    if (this.#secretsCheck.add(fingerprints)) this.#current = undefined;
  }

  /**
   * Prepares the connection, unless this has been done since it was established.
   *
   * @throws Error if Redis is unreachable; ConfigError if another application uses the namespace
   */
  async run(): Promise<RedisServerState> {
    await this.#options.connection.client();
    const { generation } = this.#options.connection;
    if (this.#current?.generation === generation) return this.#current.state;
    const current = { generation, state: this.#prepare() };
    this.#current = current;
    try {
      return await current.state;
    } catch (error) {
      if (this.#current === current) this.#current = undefined;
      throw error;
    }
  }

  /** Stops the timer. */
  close(): void {
    this.#secretsCheck.close();
  }

  /**
   * Connects to the server that stores the data, and reads its state. Writes nothing.
   *
   * @throws Error if it is unreachable; ConfigError if the URL is that of a Sentinel, without the name of a primary
   */
  async inspect(): Promise<RedisServerState> {
    const { connection, keys } = this.#options;
    const state = await inspectRedis(connection);
    if (state.mode === "sentinel") throw sentinelError(connection.address);
    if (state.mode === "cluster") await connection.locate(keys.epoch);
    // The address may lead to the primary next time, or this server may have been promoted by then.
    if (state.isReplica) {
      throw connection.refuse(`Redis at ${connection.address} is a replica, which accepts no writes.`);
    }
    connection.accept();
    return state;
  }

  async #prepare(): Promise<RedisServerState> {
    const { connection, keys } = this.#options;
    const state = await this.inspect();
    await this.#secretsCheck.run();
    // Redis may have been started again without its last writes, and with an epoch of any time before them.
    if (state.durability === "unknown") {
      await runScript(connection, START_EPOCH, { keys: [keys.epoch], args: [createEpoch()] });
    }
    this.#warn(state);
    return state;
  }

  #warn(state: RedisServerState): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    const { connection, log } = this.#options;
    for (const { problem, fix } of redisProblems(state))
      log.warn({ redis: connection.address, fix }, `The bus ${problem}`);
  }
}

function sentinelError(address: string): ConfigError {
  return new ConfigError([
    {
      variable: "WEB_BUS_URL",
      problem: `is the URL of a Redis Sentinel, ${address}, without the name of a primary.`,
      fix: "End the URL with the name that the Sentinels monitor: redis://s1:26379,s2:26379?sentinel=mymaster",
    },
  ]);
}

/**
 * Whether acknowledged writes survive a crash of Redis: with an append-only file they do, without they do not. `unknown`:
 * the user lacks the permission for `INFO`.
 */
export type Durability = "durable" | "volatile" | "unknown";

/** What a Redis guarantees for stored messages, according to its `INFO`. */
export interface RedisServerState {
  readonly mode: "standalone" | "cluster" | "sentinel";
  readonly durability: Durability;
  /** The `maxmemory-policy`, if Redis can delete keys by it when it is full. */
  readonly evictionPolicy: string | undefined;
  /** Whether it is a replica, which accepts no writes. */
  readonly isReplica: boolean;
  /** Whether it accepts writes while none of its replicas confirms them: it has replicas and no `min-replicas-to-write`. */
  readonly acceptsUnreplicated: boolean;
  /**
   * The run of the server, for the scripts: its `run_id` with the offset at which it was promoted, if it was, and
   * whether its data belong to that run only (see `scripts.ts`).
   */
  readonly run: string;
}

/** The `run` of a Redis whose user lacks the permission for `INFO`. */
const UNKNOWN_RUN = "? -";

/**
 * Reads the state of a Redis.
 *
 * @throws Error if it is unreachable
 */
async function inspectRedis(connection: RedisConnection): Promise<RedisServerState> {
  const info = (await infoOf(connection)) ?? ""; // without the permission for it, nothing is known
  const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1];
  const canEvict = policy !== undefined && policy !== "noeviction" && !/^maxmemory:0\r?$/m.test(info);
  const durability = durabilityOf(info);
  const hasReplicas = /^connected_slaves:[1-9]/m.test(info);
  const mode = modeOf(info);
  return {
    mode,
    durability,
    evictionPolicy: canEvict ? policy : undefined,
    isReplica: /^role:slave\r?$/m.test(info),
    // A node of a cluster that is cut off from the others refuses writes before one of its replicas is promoted.
    acceptsUnreplicated: hasReplicas && mode === "standalone" && !/^min_slaves_good_slaves:/m.test(info),
    run: runOf(info, durability, hasReplicas),
  };
}

function modeOf(info: string): RedisServerState["mode"] {
  const [, mode] = /^(?:redis|server)_mode:(cluster|sentinel)\r?$/m.exec(info) ?? [];
  return mode === "cluster" || mode === "sentinel" ? mode : "standalone";
}

/** Returns the run of a server, as the scripts expect it. */
function runOf(info: string, durability: Durability, hasReplicas: boolean): string {
  const [, runId] = /^run_id:([0-9a-f]+)\r?$/m.exec(info) ?? [];
  if (runId === undefined) return UNKNOWN_RUN;
  const [, promotedAt] = /^second_repl_offset:(\d+)\r?$/m.exec(info) ?? [];
  const run = promotedAt === undefined ? runId : `${runId}:${promotedAt}`;
  if (durability === "volatile") return `${run} v`;
  return hasReplicas || promotedAt !== undefined ? `${run} r` : `${run} -`;
}

function durabilityOf(info: string): Durability {
  const [, enabled] = /^aof_enabled:([01])\r?$/m.exec(info) ?? [];
  // Without this section of INFO, it is unknown whether the server has the file.
  if (enabled === undefined) return "unknown";
  return enabled === "1" ? "durable" : "volatile";
}

/** Returns the properties of a Redis that a bus in production should not have. */
export function redisProblems({ durability, evictionPolicy, acceptsUnreplicated }: RedisServerState): ConfigProblem[] {
  return [
    ...(durability === "volatile" ? [NO_APPEND_ONLY_FILE] : []),
    ...(durability === "unknown" ? [UNKNOWN_DURABILITY] : []),
    ...(evictionPolicy === undefined ? [] : [evictionProblem(evictionPolicy)]),
    ...(acceptsUnreplicated ? [UNREPLICATED_WRITES] : []),
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

const UNREPLICATED_WRITES: ConfigProblem = {
  variable: "WEB_BUS_URL",
  problem:
    "is a Redis with replicas and without min-replicas-to-write: a primary that is cut off from them still acknowledges " +
    "live updates after one of them was promoted, and no page receives these or is notified of a gap.",
  fix:
    "Set min-replicas-to-write 1 in redis.conf of every server, and now: redis-cli CONFIG SET min-replicas-to-write 1. " +
    "Keep min-replicas-max-lag (10 seconds) below the time after which a replica is promoted.",
};

function evictionProblem(policy: string): ConfigProblem {
  return {
    variable: "WEB_BUS_URL",
    problem: `is a Redis with maxmemory-policy ${policy}: when it is full, it may delete live updates.`,
    fix: "Set maxmemory-policy noeviction in redis.conf, and now: redis-cli CONFIG SET maxmemory-policy noeviction",
  };
}
