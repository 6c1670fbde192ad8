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

/** What {@link redis} can be told. */
export interface RedisOptions {
  /** `redis://…` or `rediss://…`, with `user:password@` before the host and `/1` for a database after it. */
  readonly url: string;
  /** How long messages are kept. Default: 24.5, half an hour longer than a feed lives. */
  readonly hours?: number;
  /** How many messages a channel keeps. Default: 10,000. */
  readonly messages?: number;
  /** What the names of all keys begin with; applications that share a database need one each. Default: `tsweb`. */
  readonly prefix?: string;
  /** Where it is written that Redis is away, and back. Default: standard error. */
  readonly log?: Logger;
}

/** How long a message may take to be taken. */
const PUBLISH_MS = 10_000;

/** How long a producer's last parcel is remembered: far longer than it may be sent again. */
const REMEMBER_MS = 600_000;

/** How many channels are asked about in one step: Redis does nothing else meanwhile. */
const ENDS_AT_ONCE = 200;

/**
 * Makes a bus of a Redis 7, for any number of processes. Nothing is connected before its first use.
 *
 * A channel is a stream of entries numbered through, so that a reader knows exactly whether something
 * is missing. Messages survive what Redis survives: with `appendonly yes`, a crash. Redis has to keep
 * what it is given: `maxmemory-policy noeviction`.
 *
 * @throws ConfigError for an address that cannot be used, at once; at first use, when ioredis is not
 *   installed
 * @example realtime.use_bus(redis("redis://localhost:6379"));
 */
export function redis(options: string | RedisOptions): Bus {
  return new RedisBus(typeof options === "string" ? { url: options } : options);
}

class RedisBus implements Bus {
  readonly #connection: RedisConnection;
  readonly #listener: RedisSubscriber;
  readonly #outbox: PublishQueue;
  readonly #wakes = new ChannelNotifier();
  readonly #keepMs: number;
  readonly #messages: number;
  readonly #keys: Keys;
  /** No other process has it: what this one sends is told from what others do. */
  readonly #producer = createEpoch();
  readonly #patience = new RetryPolicy(isPassing);
  readonly #log: Logger;
  #warned: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor({ url, hours = 24.5, messages = 10_000, prefix = "tsweb", log = createConsoleLogger() }: RedisOptions) {
    this.#log = log;
    this.#connection = openRedisConnection(url, log);
    this.#keepMs = Math.round(hours * 3_600_000);
    this.#messages = messages;
    this.#keys = new Keys(prefix, databaseOf(url));
    this.#listener = new RedisSubscriber(this.#connection, {
      channels: () => [...this.#wakes.channels].map((channel) => this.#keys.wakeUp(channel)),
      message: (name, text) => this.#hear(name, text),
      back: () => this.#wakes.notifyAll(),
    });
    this.#outbox = new PublishQueue({
      send: (parcel) => this.#append(parcel),
      isPassing,
      perParcel: 100,
      waitMs: PUBLISH_MS,
    });
  }

  publish(channel: string, data: string): Promise<Position> {
    return this.#outbox.publish(channel, data);
  }

  position(channels: readonly string[]): Promise<Position[]> {
    return this.#patience.run(async () => {
      const ends: Position[] = [];
      // Once at least: also of no channel it is an answer whether Redis is there.
      for (let at = 0; at === 0 || at < channels.length; at += ENDS_AT_ONCE) {
        const keys = channels.slice(at, at + ENDS_AT_ONCE).map((channel) => this.#keys.stream(channel));
        const input = { keys: [this.#keys.epoch, ...keys], args: [createEpoch()] };
        ends.push(...parseLastIdsReply(await this.#run(LAST_IDS, input)).map(endPosition));
      }
      return ends;
    });
  }

  read(channel: string, after: Position, limit: number): Promise<ReadResult> {
    const { epoch = "-", place = { ms: 0, n: 0 } } = parsePosition(after) ?? {};
    const input = {
      keys: [this.#keys.epoch, this.#keys.stream(channel)],
      args: [createEpoch(), epoch, formatEntryId(place), String(limit)],
    };
    return this.#patience.run(async () => {
      const range = parseRangeReply(await this.#run(RANGE, input));
      return buildReadResult(after, range, { limit, keepMs: this.#keepMs });
    });
  }

  async watch(channel: string, wake: ChannelListener): Promise<() => void> {
    const name = this.#keys.wakeUp(channel);
    const stop = this.#wakes.add(channel, wake);
    const end = () => {
      if (stop() && !this.#wakes.has(channel)) this.#listener.unsubscribe(name);
    };
    try {
      await this.#patience.run(() => this.#listener.subscribe(name));
    } catch (error) {
      end();
      throw error;
    }
    return end;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#outbox.close();
    this.#patience.close();
    this.#wakes.clear();
    this.#listener.close();
    await this.#connection.close();
  }

  async #append({ channel, number, data }: PublishBatch): Promise<Position[]> {
    const reply = await this.#run(APPEND, {
      keys: [this.#keys.epoch, this.#keys.stream(channel), this.#keys.sent(this.#producer, channel)],
      args: [
        ...[createEpoch(), String(number), String(this.#keepMs), String(this.#messages), String(REMEMBER_MS)],
        ...[this.#keys.wakeUp(channel), ...data],
      ],
    });
    const { epoch, first } = parseAppendReply(reply);
    return data.map((_, at) => formatPosition(epoch, { ms: first.ms, n: first.n + at }));
  }

  #hear(name: string, text: string): void {
    const { epoch, entry } = parsePubSubMessage(text);
    const after = formatPosition(epoch, previousEntryId(entry, this.#keepMs));
    this.#wakes.notify(this.#keys.channelOf(name), { after, message: toMessage(epoch, entry) });
  }

  async #run(script: Script, input: ScriptInput): Promise<unknown> {
    const reply = await runScript(this.#connection, script, input);
    this.#warned ??= warnOfEviction(this.#connection, this.#log);
    return reply;
  }
}

/** The names of what is kept in Redis. */
class Keys {
  readonly epoch: string;
  readonly #prefix: string;
  readonly #wakeUp: string;

  constructor(prefix: string, database: string) {
    this.#prefix = `${prefix}:bus`;
    this.epoch = `${this.#prefix}:epoch`;
    // Messages to listeners pass through all databases of a Redis.
    this.#wakeUp = `${this.#prefix}:${database}:wake:`;
  }

  stream(channel: string): string {
    return `${this.#prefix}:channel:${channel}`;
  }

  sent(producer: string, channel: string): string {
    return `${this.#prefix}:sent:${producer}:${channel}`;
  }

  wakeUp(channel: string): string {
    return this.#wakeUp + channel;
  }

  channelOf(wakeUp: string): string {
    return wakeUp.slice(this.#wakeUp.length);
  }
}

function databaseOf(url: string): string {
  return new URL(url).pathname.slice(1) || "0";
}

/**
 * Answers whether an error passes: Redis is away, or about to be there. What it refuses for another
 * reason, it will refuse again.
 */
function isPassing(error: unknown): boolean {
  if (error instanceof ConfigError) return false;
  const isReply = error instanceof Error && error.name === "ReplyError";
  // The first word of an error that Redis replies is its code.
  return !isReply || /^(LOADING|BUSY|READONLY|MASTERDOWN|TRYAGAIN) /.test(error.message);
}

/** Says in the log when Redis is set to throw away what it has no room for, rather than refuse it. */
async function warnOfEviction(connection: RedisConnection, log: Logger): Promise<void> {
  try {
    const redis = await connection.client();
    const info = await redis.info("memory");
    const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1];
    if (policy === undefined || policy === "noeviction" || /^maxmemory:0\r?$/m.test(info)) return;
    const fields = { redis: connection.address, policy };
    log.warn(fields, "Redis may throw live updates away when it is full; set maxmemory-policy noeviction");
  } catch {
    // Not everybody may ask; without an answer there is nothing to warn of.
  }
}
