import type { Redis } from "ioredis";
import type { RedisConnection } from "./connection.ts";

/** How often a connection on which nothing needs to be said is asked whether it lives. */
const PING_MS = 5_000;

/** How many channels are asked for with one command. */
const CHUNK = 1_000;

/** How long Redis is left alone after it refused to have us listen. */
const REFUSED_MS = 1_000;

/** Whom a {@link RedisSubscriber} listens for. */
export interface SubscriberHandlers {
  /** Gives the channels that are to be listened to now. */
  channels(): Iterable<string>;
  /** Hears a message. */
  message(channel: string, text: string): void;
  /** Is told that it listens again, after its connection was lost: something may have been missed. */
  back(): void;
}

/**
 * Listens to channels on a connection of its own, since one that listens can do nothing else. It comes
 * back by itself, and listens again to what it should.
 */
export class RedisSubscriber {
  readonly #connection: RedisConnection;
  readonly #ear: SubscriberHandlers;
  #opening: Promise<Redis> | undefined;
  #redis: Redis | undefined;
  #ping: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(connection: RedisConnection, ear: SubscriberHandlers) {
    this.#connection = connection;
    this.#ear = ear;
  }

  /**
   * Listens to a channel too.
   *
   * @returns once Redis has it
   * @throws Error when Redis is away, at once
   */
  async subscribe(channel: string): Promise<void> {
    this.#opening ??= this.#open();
    const redis = await this.#opening;
    // The client would refuse it too, in words about its own settings.
    if (redis.status !== "ready") throw new Error(`Redis at ${this.#connection.address} is away.`);
    await redis.subscribe(channel);
  }

  /** Listens to a channel no more. */
  unsubscribe(channel: string): void {
    const redis = this.#redis;
    // When it fails the connection is lost, and the next one does not ask for the channel.
    if (redis?.status === "ready") redis.unsubscribe(channel).catch(() => undefined);
  }

  /** Ends the connection. */
  close(): void {
    this.#isClosed = true;
    clearInterval(this.#ping);
    this.#redis?.disconnect();
  }

  async #open(): Promise<Redis> {
    try {
      const client = await this.#connection.client();
      if (this.#isClosed) throw new Error("The bus is closed.");
      const redis = client.duplicate({ lazyConnect: true, autoResubscribe: false });
      this.#redis = redis;
      // What ails Redis is told by the connection that is shared.
      redis.on("error", () => undefined);
      redis.on("message", (channel: string, text: string) => this.#ear.message(channel, text));
      redis.on("ready", () => void this.#resume(redis));
      // A connection that died without a word is ended when no answer comes.
      const ask = () => redis.status === "ready" && redis.ping().catch(() => undefined);
      this.#ping = setInterval(ask, PING_MS).unref();
      // A failure is tried again.
      await redis.connect().catch(() => undefined);
      return redis;
    } catch (error) {
      this.#opening = undefined;
      throw error;
    }
  }

  /** Listens again to all that it should. Never rejects. */
  async #resume(redis: Redis): Promise<void> {
    const channels = [...this.#ear.channels()];
    try {
      for (let at = 0; at < channels.length; at += CHUNK) await redis.subscribe(...channels.slice(at, at + CHUNK));
    } catch {
      // Lost again, it resumes when it is back; refused, it asks again.
      const again = () => redis.status === "ready" && void this.#resume(redis);
      setTimeout(again, REFUSED_MS).unref();
      return;
    }
    const wanted = new Set(this.#ear.channels());
    for (const channel of channels) if (!wanted.has(channel)) this.unsubscribe(channel);
    this.#ear.back();
  }
}
