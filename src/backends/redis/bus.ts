import {
  ConfigError,
  type ConfigProblem,
  parseServerUrl,
  REDIS_TARGET,
  type RedisTarget,
  redisKeyPrefix,
  resolveBusOptions,
} from "../../config/index.ts";
import { backgroundLog, createConsoleLogger, type Logger } from "../../logging/index.ts";
import type { RevocationStore } from "../../revocation/index.ts";
import {
  type Bus,
  createEpoch,
  createProducerId,
  DEFAULT_HOURS,
  type Entry,
  type EntryListener,
  ForeignDataLog,
  type OutcomeStore,
  type Position,
  type PublishBatch,
  PublishQueue,
  type ReadLimit,
  type ReadResult,
  RetryPolicy,
} from "../bus/index.ts";
import {
  isReplyError,
  type OpenedConnection,
  openRedisConnection,
  type RedisConnection,
  type RunOnConnection,
  runScript,
  type Script,
  type ScriptInput,
} from "./client/index.ts";
import { RedisKeys } from "./keys.ts";
import { redisOutcomes } from "./outcomes.ts";
import { RedisPreparation, redisProblems } from "./preparation.ts";
import { RedisPresence } from "./presence.ts";
import { redisRevocations } from "./revocations.ts";
import {
  ANY_EPOCH,
  APPEND,
  LAST_IDS,
  parseAppendReply,
  parseLastIdsReply,
  parsePubSubMessage,
  parseRangeReply,
  RANGE,
} from "./scripts.ts";
import {
  buildOldestResult,
  buildReadResult,
  endPosition,
  FIRST_ID,
  formatEntryId,
  formatPosition,
  parsePosition,
  previousEntryId,
  type StreamPosition,
  type StreamRange,
  UNKNOWN_ID,
  UnexpectedReplyError,
} from "./stream.ts";
import { RedisSubscriber } from "./subscriber.ts";

/** The options of {@link redis}. */
export interface RedisOptions {
  /**
   * `redis://…` or `rediss://…`, with `user:password@` before the host, and after it `/1` for database 1 and
   * `?namespace=shop` for a namespace. Of a cluster: one host or several, separated by commas. Of Sentinel: the hosts of the
   * Sentinels, with the name of the primary: `redis://s1:26379,s2:26379,s3:26379?sentinel=mymaster`.
   */
  readonly url: string;
  /**
   * A part of every key and pub/sub channel, which separates applications on one Redis: 1 to 64 letters, digits, `-` and
   * `_`. Default: the namespace in the URL, or the `name` in package.json.
   */
  readonly namespace?: string;
  /** How long messages are stored, in hours. Default: 24.5, half an hour longer than a feed is valid. */
  readonly hours?: number;
  /** The maximum number of messages per channel. Default: 10,000. */
  readonly messages?: number;
  /** Receives a line when Redis becomes unreachable or reachable. Default: standard error. */
  readonly log?: Logger;
}

/** How long `publish` waits for Redis. */
const PUBLISH_TIMEOUT_MS = 10_000;

/** The maximum number of messages in a batch. */
const MAX_BATCH_MESSAGES = 100;

/** How long the last batch of a process is remembered: far longer than a batch is sent again. */
const REMEMBER_BATCH_MS = 600_000;

/** How many channels one run of `LAST_IDS` covers. Redis runs nothing else during a script. */
const CHANNELS_PER_SCRIPT = 200;

/**
 * Returns a bus for any number of processes, on Redis 7. It connects at its first use, and reconnects
 * whenever the connection is lost.
 *
 * A channel is a Redis stream whose entries are numbered consecutively, so that a reader detects every
 * missing entry. Messages are as durable as the data of Redis: set `appendonly yes`, so that they survive a
 * crash, and `maxmemory-policy noeviction`, so that Redis does not delete them when it is full.
 *
 * The package ioredis must be installed: `npm install ioredis`. Without it, or if Redis refuses the
 * database, every operation rejects with a `ConfigError`.
 *
 * @param options the URL, or the URL and further options
 * @throws TypeError if the URL or the namespace is not valid
 * @throws ConfigError if the path of the URL is not a database number
 * @example realtime.use_bus(redis("redis://localhost:6379"));
 */
export function redis(options: string | RedisOptions): Bus {
  return new RedisBus(typeof options === "string" ? { url: options } : options);
}

class RedisBus implements Bus {
  readonly revocations: RevocationStore;
  readonly presence: RedisPresence;
  readonly outcomes: OutcomeStore;
  readonly #target: RedisTarget;
  readonly #opened: OpenedConnection;
  readonly #connection: RedisConnection;
  readonly #subscriber: RedisSubscriber;
  readonly #publishQueue: PublishQueue;
  readonly #maxAgeMs: number;
  readonly #maxMessages: number;
  readonly #keys: RedisKeys;
  /** Distinguishes the batches of this bus from those of all others. */
  readonly #producerId = createProducerId();
  readonly #retryPolicy = new RetryPolicy(isTransientError);
  readonly #foreignData: ForeignDataLog;
  readonly #preparation: RedisPreparation;
  #closing: Promise<void> | undefined;

  constructor({ hours = DEFAULT_HOURS, messages = 10_000, ...options }: RedisOptions) {
    const log = backgroundLog(options.log ?? createConsoleLogger());
    this.#target = resolveBusOptions(options, "redis");
    const { url, namespace } = this.#target;
    this.#opened = openRedisConnection(url, log, redisKeyPrefix(namespace));
    this.#connection = this.#opened.connection;
    this.#foreignData = new ForeignDataLog(log, { redis: this.#connection.address });
    this.#maxAgeMs = Math.round(hours * 3_600_000);
    this.#maxMessages = messages;
    this.#keys = new RedisKeys(namespace, databaseOf(url));
    this.#preparation = new RedisPreparation({ connection: this.#connection, keys: this.#keys, namespace, log });
    const run: RunOnConnection = (operation) =>
      this.#retryPolicy.run(async () => {
        await this.#preparation.run();
        return operation(this.#connection);
      });
    this.revocations = redisRevocations(this.#keys.revocations, run);
    this.outcomes = redisOutcomes((record) => this.#keys.outcome(record), run);
    this.#subscriber = new RedisSubscriber(this.#connection, run);
    this.presence = new RedisPresence({ keys: this.#keys, run, subscriber: this.#subscriber });
    this.#publishQueue = new PublishQueue({
      send: this.#append,
      isTransient: isTransientError,
      maxBatchMessages: MAX_BATCH_MESSAGES,
      timeoutMs: PUBLISH_TIMEOUT_MS,
    });
  }

  /** Shared with the rate limit. A getter, so that no dump of the object contains the URL with its password. */
  get [REDIS_TARGET](): RedisTarget {
    return this.#target;
  }

  identify(fingerprints: readonly string[]): void {
    this.#preparation.identify(fingerprints);
  }

  get isReachable(): boolean {
    return this.#connection.isReachable;
  }

  check(): Promise<readonly ConfigProblem[]> {
    return this.#retryPolicy.run(async () => redisProblems(await this.#preparation.inspect()));
  }

  storedFingerprints(): Promise<readonly string[]> {
    return this.#retryPolicy.run(async () => {
      await this.#preparation.inspect();
      const redis = await this.#connection.client();
      return redis.zrange(this.#keys.secrets, 0, -1);
    });
  }

  get publish(): Bus["publish"] {
    return this.#publishQueue.publish;
  }

  position(channels: readonly string[]): Promise<Position[]> {
    const keys = channels.map((channel) => this.#keys.stream(channel));
    const inputs: ScriptInput[] = [];
    // There is at least one script: `position([])` checks whether Redis is reachable.
    do inputs.push({ keys: keys.splice(0, CHANNELS_PER_SCRIPT), args: [] });
    while (keys.length > 0);
    return this.#retryPolicy.run(async () => {
      // All are sent in one round trip. Redis serves other clients between them.
      const replies = await Promise.all(inputs.map((input) => this.#run(LAST_IDS, input)));
      return replies.flatMap((reply) => parseLastIdsReply(reply).map(endPosition));
    });
  }

  async read(channel: string, after: Position, limit: ReadLimit): Promise<ReadResult> {
    const from = parsePosition(after) ?? { epoch: "-", id: FIRST_ID };
    return buildReadResult(after, await this.#readRange(channel, from, limit), this.#maxAgeMs);
  }

  async readOldest(channel: string, limit: ReadLimit): Promise<ReadResult> {
    return buildOldestResult(await this.#readRange(channel, { epoch: ANY_EPOCH, id: FIRST_ID }, limit));
  }

  #readRange(channel: string, { epoch, id }: StreamPosition, limit: ReadLimit): Promise<StreamRange> {
    const key = this.#keys.stream(channel);
    const args = [epoch, formatEntryId(id), String(limit.messages), String(limit.bytes)];
    return this.#retryPolicy.run(async () => {
      const range = parseRangeReply(await this.#run(RANGE, { keys: [key], args }));
      if (range.entries.some(({ previousId }) => previousId === UNKNOWN_ID)) this.#foreignData.report(`key ${key}`);
      return range;
    });
  }

  watch(channel: string, listener: EntryListener): Promise<() => void> {
    const pubSubChannel = this.#keys.pubSubChannel(channel);
    return this.#subscriber.listen(pubSubChannel, (text) =>
      listener(text === undefined ? undefined : this.#parseEntry(pubSubChannel, text)),
    );
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#publishQueue.close();
    this.#retryPolicy.close();
    this.#preparation.close();
    this.#subscriber.close();
    await this.#opened.close();
  }

  readonly #append = async ({ channel, number, data }: PublishBatch): Promise<Position[]> => {
    const reply = await this.#run(APPEND, {
      keys: [this.#keys.stream(channel), this.#keys.lastBatch(this.#producerId, channel)],
      args: [
        ...[String(number), String(this.#maxAgeMs), String(this.#maxMessages)],
        ...[String(REMEMBER_BATCH_MS), this.#keys.pubSubChannel(channel), ...data],
      ],
    });
    const { epoch, firstId } = parseAppendReply(reply);
    return data.map((_, index) => formatPosition(epoch, { ms: firstId.ms, seq: firstId.seq + index }));
  };

  /** Returns the entry of a pub/sub message; undefined for one that no bus has sent, after which the channel has to be read. */
  #parseEntry(pubSubChannel: string, text: string): Entry | undefined {
    const received = parsePubSubMessage(text);
    if (!received) {
      this.#foreignData.report(`pub/sub channel ${pubSubChannel}`);
      return undefined;
    }
    const { epoch, entry } = received;
    const after = formatPosition(epoch, previousEntryId(entry, this.#maxAgeMs));
    return { position: formatPosition(epoch, entry.id), data: entry.data, after };
  }

  /**
   * Prepares the connection, and runs a script. Its first key is the epoch. Its first arguments are a new epoch, and
   * the run of the server.
   */
  async #run(script: Script, { keys, args }: ScriptInput): Promise<unknown> {
    const { run } = await this.#preparation.run();
    return runScript(this.#connection, script, {
      keys: [this.#keys.epoch, ...keys],
      args: [createEpoch(), run, ...args],
    });
  }
}

function databaseOf(url: string): string {
  return parseServerUrl(url)?.url.pathname.slice(1) || "0";
}

/**
 * Returns whether an error is transient: Redis is unreachable, or about to be ready. If it refused a command
 * for another reason, it would refuse it again.
 */
function isTransientError(error: unknown): boolean {
  if (error instanceof ConfigError || error instanceof UnexpectedReplyError) return false;
  // The message of a reply's error starts with the error code.
  return (
    !isReplyError(error) ||
    /^(LOADING|BUSY|READONLY|MASTERDOWN|TRYAGAIN|NOREPLICAS|ASK|CLUSTERDOWN|MOVED) /.test(error.message)
  );
}
