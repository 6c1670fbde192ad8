import { redisKeyPrefix } from "../../config/index.ts";

/**
 * The names of the keys and pub/sub channels of a namespace. Processes of different versions share them: keep them
 * stable.
 */
export class RedisKeys {
  readonly epoch: string;
  /** The fingerprints of the secrets of the application's processes. */
  readonly secrets: string;
  /** The revocation log. */
  readonly revocations: string;
  /** The shell command that deletes {@link secrets}. */
  readonly deleteSecretsCommand: string;
  readonly #prefix: string;
  readonly #pubSubPrefix: string;

  /** @param database the number of the database */
  constructor(namespace: string, database: string) {
    this.#prefix = redisKeyPrefix(namespace);
    this.epoch = `${this.#prefix}epoch`;
    this.secrets = `${this.#prefix}secrets`;
    this.revocations = `${this.#prefix}revocations`;
    const databaseOption = database === "0" ? "" : `-n ${database} `;
    this.deleteSecretsCommand = `redis-cli ${databaseOption}DEL '${this.secrets}'`;
    // Pub/sub ignores databases: a message reaches the subscribers of all databases of a Redis.
    this.#pubSubPrefix = `${this.#prefix}${database}:new:`;
  }

  stream(channel: string): string {
    return `${this.#prefix}channel:${channel}`;
  }

  lastBatch(producerId: string, channel: string): string {
    return `${this.#prefix}sent:${producerId}:${channel}`;
  }

  pubSubChannel(channel: string): string {
    return this.#pubSubPrefix + channel;
  }

  /** What an idempotent function led to. */
  outcome(record: string): string {
    return `${this.#prefix}once:${record}`;
  }

  /** The members of a channel: see presence.ts. */
  members(channel: string): string {
    return `${this.#prefix}present:${channel}`;
  }

  /** The leases of the holders of the members. */
  leases(channel: string): string {
    return `${this.#prefix}leases:${channel}`;
  }

  /** Notifies of changed members. No other pub/sub channel has this name: names of channels contain no control characters. */
  presencePubSubChannel(channel: string): string {
    return `${this.#pubSubPrefix}\u0000present:${channel}`;
  }
}
