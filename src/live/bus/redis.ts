import { ConfigError } from "../../config/index.ts";
import { createConsoleLogger, type Logger } from "../../logging/index.ts";
import {
  openRedisConnection,
  type RedisConnection,
  RedisSubscriber,
  runScript,
  type Script,
  type ScriptInput,
} from "../../redis/index.ts";
import type { Bus, ChannelListener, Position, ReadResult } from "./bus.ts";
import { ChannelNotifier } from "./channel-notifier.ts";
import { createEpoch } from "./epoch.ts";
import { type PublishBatch, PublishQueue } from "./publish-queue.ts";
import { parseAppendReply, parseLastIdsReply, parsePubSubMessage, parseRangeReply } from "./redis-replies.ts";
import { APPEND, LAST_IDS, RANGE } from "./redis-scripts.ts";
import {
  buildReadResult,
  endPosition,
  formatEntryId,
  formatPosition,
  parsePosition,
  previousEntryId,
  toMessage,
} from "./redis-stream.ts";
import { RetryPolicy } from "./retry-policy.ts";

/** The options of {@link redis}. */
export interface RedisOptions {
  /** `redis://…` or `rediss://…`, with `user:password@` before the host and `/1` for database 1 after it. */
  readonly url: string;
  /** How long messages are stored, in hours. Default: 24.5, half an hour longer than a feed is valid. */
  readonly hours?: number;
  /** The maximum number of messages per channel. Default: 10,000. */
  readonly messages?: number;
  /** The prefix of all keys. Each application that uses a database needs its own. Default: `tsweb`. */
  readonly prefix?: string;
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
 * @throws TypeError if the URL is not valid
 * @throws ConfigError if the path of the URL is not a database number
 * @example realtime.use_bus(redis("redis://localhost:6379"));
 */
export function redis(options: string | RedisOptions): Bus {
  return new RedisBus(typeof options === "string" ? { url: options } : options);
}

class RedisBus implements Bus {
  readonly #connection: RedisConnection;
  readonly #subscriber: RedisSubscriber;
  readonly #publishQueue: PublishQueue;
  readonly #notifier = new ChannelNotifier();
  readonly #maxAgeMs: number;
  readonly #maxMessages: number;
  readonly #keys: Keys;
  /** Distinguishes the batches of this bus from those of all others. */
  readonly #producerId = createEpoch();
  readonly #retryPolicy = new RetryPolicy(isTransientError);
  readonly #log: Logger;
  #evictionCheck: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor({ url, hours = 24.5, messages = 10_000, prefix = "tsweb", log = createConsoleLogger() }: RedisOptions) {
    this.#log = log;
    this.#connection = openRedisConnection(url, log);
    this.#maxAgeMs = Math.round(hours * 3_600_000);
    this.#maxMessages = messages;
    this.#keys = new Keys(prefix, databaseOf(url));
    this.#subscriber = new RedisSubscriber(this.#connection, {
      channels: () => [...this.#notifier.channels].map((channel) => this.#keys.pubSubChannel(channel)),
      onMessage: (pubSubChannel, text) => this.#receive(pubSubChannel, text),
      onReconnect: () => this.#notifier.notifyAll(),
    });
    this.#publishQueue = new PublishQueue({
      send: (batch) => this.#append(batch),
      isTransient: isTransientError,
      maxBatchMessages: MAX_BATCH_MESSAGES,
      timeoutMs: PUBLISH_TIMEOUT_MS,
    });
  }

  publish(channel: string, data: string): Promise<Position> {
    return this.#publishQueue.publish(channel, data);
  }

  position(channels: readonly string[]): Promise<Position[]> {
    return this.#retryPolicy.run(async () => {
      const ends: Position[] = [];
      // The script runs at least once: `position([])` checks whether Redis is reachable.
      for (let start = 0; start === 0 || start < channels.length; start += CHANNELS_PER_SCRIPT) {
        const keys = channels.slice(start, start + CHANNELS_PER_SCRIPT).map((channel) => this.#keys.stream(channel));
        const input = { keys: [this.#keys.epoch, ...keys], args: [createEpoch()] };
        ends.push(...parseLastIdsReply(await this.#run(LAST_IDS, input)).map(endPosition));
      }
      return ends;
    });
  }

  read(channel: string, after: Position, limit: number): Promise<ReadResult> {
    const { epoch = "-", id = { ms: 0, seq: 0 } } = parsePosition(after) ?? {};
    const input = {
      keys: [this.#keys.epoch, this.#keys.stream(channel)],
      args: [createEpoch(), epoch, formatEntryId(id), String(limit)],
    };
    return this.#retryPolicy.run(async () => {
      const range = parseRangeReply(await this.#run(RANGE, input));
      return buildReadResult(after, range, { limit, maxAgeMs: this.#maxAgeMs });
    });
  }

  async watch(channel: string, listener: ChannelListener): Promise<() => void> {
    const pubSubChannel = this.#keys.pubSubChannel(channel);
    const removeListener = this.#notifier.add(channel, listener);
    const stop = () => {
      if (removeListener() && !this.#notifier.has(channel)) this.#subscriber.unsubscribe(pubSubChannel);
    };
    try {
      await this.#retryPolicy.run(() => this.#subscriber.subscribe(pubSubChannel));
    } catch (error) {
      stop();
      throw error;
    }
    return stop;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#publishQueue.close();
    this.#retryPolicy.close();
    this.#notifier.clear();
    this.#subscriber.close();
    await this.#connection.close();
  }

  async #append({ channel, number, data }: PublishBatch): Promise<Position[]> {
    const reply = await this.#run(APPEND, {
      keys: [this.#keys.epoch, this.#keys.stream(channel), this.#keys.lastBatch(this.#producerId, channel)],
      args: [
        ...[createEpoch(), String(number), String(this.#maxAgeMs), String(this.#maxMessages)],
        ...[String(REMEMBER_BATCH_MS), this.#keys.pubSubChannel(channel), ...data],
      ],
    });
    const { epoch, firstId } = parseAppendReply(reply);
    return data.map((_, index) => formatPosition(epoch, { ms: firstId.ms, seq: firstId.seq + index }));
  }

  #receive(pubSubChannel: string, text: string): void {
    const { epoch, entry } = parsePubSubMessage(text);
    const after = formatPosition(epoch, previousEntryId(entry, this.#maxAgeMs));
    this.#notifier.notify(this.#keys.channelOf(pubSubChannel), { after, message: toMessage(epoch, entry) });
  }

  async #run(script: Script, input: ScriptInput): Promise<unknown> {
    const reply = await runScript(this.#connection, script, input);
    this.#evictionCheck ??= warnOfEviction(this.#connection, this.#log);
    return reply;
  }
}

/** The names of the keys and pub/sub channels. Processes of different versions share them: keep them stable. */
class Keys {
  readonly epoch: string;
  readonly #prefix: string;
  readonly #pubSubPrefix: string;

  constructor(prefix: string, database: string) {
    this.#prefix = `${prefix}:bus`;
    this.epoch = `${this.#prefix}:epoch`;
    // Pub/sub ignores databases: a message reaches the subscribers of all databases of a Redis.
    this.#pubSubPrefix = `${this.#prefix}:${database}:wake:`;
  }

  stream(channel: string): string {
    return `${this.#prefix}:channel:${channel}`;
  }

  lastBatch(producerId: string, channel: string): string {
    return `${this.#prefix}:sent:${producerId}:${channel}`;
  }

  pubSubChannel(channel: string): string {
    return this.#pubSubPrefix + channel;
  }

  channelOf(pubSubChannel: string): string {
    return pubSubChannel.slice(this.#pubSubPrefix.length);
  }
}

function databaseOf(url: string): string {
  return new URL(url).pathname.slice(1) || "0";
}

/**
 * Returns whether an error is transient: Redis is unreachable, or about to be ready. If it refused a command
 * for another reason, it would refuse it again.
 */
function isTransientError(error: unknown): boolean {
  if (error instanceof ConfigError) return false;
  const isReply = error instanceof Error && error.name === "ReplyError";
  // The message of a reply's error starts with the error code.
  return !isReply || /^(LOADING|BUSY|READONLY|MASTERDOWN|TRYAGAIN) /.test(error.message);
}

/** Logs a warning if Redis is configured to delete keys, rather than to refuse writes, when it is full. */
async function warnOfEviction(connection: RedisConnection, log: Logger): Promise<void> {
  try {
    const redis = await connection.client();
    const info = await redis.info("memory");
    const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1];
    if (policy === undefined || policy === "noeviction" || /^maxmemory:0\r?$/m.test(info)) return;
    const fields = { redis: connection.address, policy };
    log.warn(fields, "Redis may delete live updates when it is full; set maxmemory-policy noeviction");
  } catch {
    // The user may lack the permission for INFO. The check is only a hint, so it is skipped then.
  }
}
