import { ConfigError } from "../../config/index.ts";
import type { Logger } from "../../logging/index.ts";
import { createEpoch, REMEMBER_FINGERPRINT_MS, SecretsCheck } from "../bus/index.ts";
import { type RedisConnection, runScript } from "./client/index.ts";
import type { RedisKeys } from "./keys.ts";
import { START_EPOCH, STORE_FINGERPRINTS } from "./scripts.ts";
import { inspectRedis, type RedisServerState, redisProblems } from "./server.ts";

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
