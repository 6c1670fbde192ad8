import type { Redis } from "ioredis";
import { backoffMs } from "../../reconnect.ts";
import { TopicListeners } from "../bus/index.ts";
import { closeWhenSilent, commandError, type RedisConnection, type RunOnConnection } from "./client/index.ts";

/** How often the connection is checked with PING. A subscriber sends no other commands while it is idle. */
const PING_INTERVAL_MS = 2_000;

/** How many channels one SUBSCRIBE command contains. */
const CHANNELS_PER_COMMAND = 1_000;

/** How long to wait before subscribing again after Redis refused it. */
const RESUBSCRIBE_DELAY_MS = 1_000;

/**
 * Subscribes to Redis pub/sub channels. It uses a connection of its own, since a connection in subscriber
 * mode accepts no other commands. When that is lost, it reconnects and subscribes to all channels again.
 */
export class RedisSubscriber {
  readonly #connection: RedisConnection;
  readonly #run: RunOnConnection;
  readonly #listeners = new TopicListeners<string>();
  #opening: Promise<Redis> | undefined;
  #redis: Redis | undefined;
  #pingTimer: NodeJS.Timeout | undefined;
  #stopReplyTimeout: (() => void) | undefined;
  #isClosed = false;

  constructor(connection: RedisConnection, run: RunOnConnection) {
    this.#connection = connection;
    this.#run = run;
  }

  /**
   * Calls a listener with the text of each message of a channel, and without one when all channels are subscribed again after
   * the connection was lost: messages may be missing. The listener must not throw. Resolves when Redis has confirmed it.
   *
   * @returns a function that stops the calls
   * @throws Error if Redis did not respond in time
   */
  async listen(channel: string, listener: (text?: string) => void): Promise<() => void> {
    const remove = this.#listeners.add(channel, listener);
    const stop = () => {
      if (remove() && !this.#listeners.has(channel)) this.#unsubscribe(channel);
    };
    try {
      await this.#run(() => this.#subscribe(channel));
    } catch (error) {
      stop();
      throw error;
    }
    return stop;
  }

  /** @throws Error at once if Redis is unreachable */
  async #subscribe(channel: string): Promise<void> {
    this.#opening ??= this.#open();
    const redis = await this.#opening;
    // Without this check ioredis rejects the command too, but its message is about its own options.
    if (redis.status !== "ready") throw this.#connection.unreachableError();
    try {
      await redis.subscribe(channel);
    } catch (error) {
      throw commandError(error, this.#connection.address);
    }
  }

  /** Unsubscribes from a channel, without waiting for the confirmation. */
  #unsubscribe(channel: string): void {
    const redis = this.#redis;
    // If it fails, the connection is lost, and the next connection does not subscribe to the channel.
    if (redis?.status === "ready") redis.unsubscribe(channel).catch(() => undefined);
  }

  /** Closes the connection. */
  close(): void {
    this.#isClosed = true;
    this.#listeners.clear();
    clearInterval(this.#pingTimer);
    this.#stopReplyTimeout?.();
    this.#redis?.disconnect();
  }

  async #open(): Promise<Redis> {
    try {
      const client = await this.#connection.client();
      if (this.#isClosed) throw new Error("The bus is closed.");
      const retryStrategy = (attempt: number) => this.#reconnectTo(attempt);
      const redis = client.duplicate({ lazyConnect: true, autoResubscribe: false, retryStrategy });
      this.#redis = redis;
      // The shared connection logs that Redis is unreachable.
      redis.on("error", () => undefined);
      redis.on("message", (channel: string, text: string) => this.#listeners.deliver(channel, text));
      redis.on("ready", () => void this.#resubscribe(redis));
      // If there is no reply, this closes a connection that died silently.
      this.#stopReplyTimeout = closeWhenSilent(redis);
      this.#pingTimer = setInterval(() => this.#check(redis), PING_INTERVAL_MS).unref();
      // After a failure the client connects again.
      await redis.connect().catch(() => undefined);
      return redis;
    } catch (error) {
      this.#opening = undefined;
      throw error;
    }
  }

  /** Checks an idle connection. If the shared connection uses another node of a cluster by now, this one does so too. */
  #check(redis: Redis): void {
    if (redis.status !== "ready") return;
    const { host, port } = this.#connection.node;
    const isSameNode = redis.options.sentinels || (redis.options.host === host && redis.options.port === port);
    if (isSameNode) redis.ping().catch(() => undefined);
    else redis.disconnect(true);
  }

  /** Sets the server to connect to: that of the shared connection. Returns when to connect, in milliseconds. */
  #reconnectTo(attempt: number): number {
    if (this.#redis && !this.#redis.options.sentinels) Object.assign(this.#redis.options, this.#connection.node);
    return backoffMs(attempt);
  }

  /** Subscribes to all channels after a connection was established. Never rejects. */
  async #resubscribe(redis: Redis): Promise<void> {
    const channels = [...this.#listeners.topics];
    try {
      for (let start = 0; start < channels.length; start += CHANNELS_PER_COMMAND)
        await redis.subscribe(...channels.slice(start, start + CHANNELS_PER_COMMAND));
    } catch {
      // If the connection was lost, the next "ready" event subscribes. If Redis refused, this retries.
      const retry = () => redis.status === "ready" && void this.#resubscribe(redis);
      setTimeout(retry, RESUBSCRIBE_DELAY_MS).unref();
      return;
    }
    // Channels may have been removed while the commands were under way.
    for (const channel of channels) if (!this.#listeners.has(channel)) this.#unsubscribe(channel);
    this.#listeners.deliverMissed();
  }
}
