import type { Bus, Entry, Progress } from "../backends/index.ts";
import { runOutsideRequests } from "../http/index.ts";
import { MessageBuffer } from "./message-buffer.ts";
import { writeLimit } from "./write-limit.ts";

/** How much one read of the bus returns. */
const READ_LIMIT = writeLimit(1);

/** The operations with which live updates read a bus. `read` also reads from `START`. */
export type BusReader = Pick<Bus, "position" | "read" | "watch">;

/** Receives the messages of a channel: a connection, or a loop of the server. */
export interface Subscriber {
  /** Called when there may be new messages, at most once in a turn of the event loop. */
  notify(): void;
}

/** The options of a {@link ChannelSubscription}. */
export interface ChannelSubscriptionOptions {
  readonly bus: BusReader;
  /** Called when an operation of the bus failed. It will be retried. */
  readonly onBusFailure: (error: unknown) => void;
}

/**
 * The subscription of this process to one channel: one `watch` of the bus for any number of subscribers. It decides which
 * entries continue the messages that it has, and reads the bus otherwise; it buffers recent messages, and notifies its
 * subscribers once for all messages of one turn of the event loop. While the bus is unreachable the subscription is
 * unchanged, and it catches up afterwards.
 */
export class ChannelSubscription {
  readonly channel: string;
  readonly subscribers = new Set<Subscriber>();
  /** Since when there are no subscribers, by `performance.now`; `null` while there are. */
  idleSinceMs: number | null = null;

  readonly #options: ChannelSubscriptionOptions;
  #buffer: MessageBuffer | null = null;
  #unwatch: (() => void) | null = null;
  #isClosed = false;
  #isReading = false;
  /** Whether the bus may have messages after those that are being read. */
  #isStale = false;
  /** Whether the subscribers will be notified. */
  #isFanOutScheduled = false;
  /** The start in progress. */
  #starting: Promise<void> | null = null;

  constructor(channel: string, options: ChannelSubscriptionOptions) {
    this.channel = channel;
    this.#options = options;
  }

  /** The recent messages; `null` until the bus has returned the channel's position. */
  get buffer(): MessageBuffer | null {
    return this.#buffer;
  }

  /** Whether the bus has to be read again: an operation failed, or the start has not finished. */
  get isBehind(): boolean {
    return this.#buffer === null || (this.#isStale && !this.#isReading);
  }

  /**
   * Starts the subscription, or retries what failed. Never rejects.
   *
   * The position is read after `watch` has resolved, so that every message is either before the position or notified.
   */
  start(): Promise<void> {
    this.#starting ??= this.#ensureStarted().finally(() => {
      this.#starting = null;
    });
    return this.#starting;
  }

  async #ensureStarted(): Promise<void> {
    const { bus, onBusFailure } = this.#options;
    try {
      if (!this.#unwatch) {
        const unwatch = await bus.watch(this.channel, this.#receive);
        if (this.#isClosed) return unwatch();
        this.#unwatch = unwatch;
      }
      if (!this.#buffer) {
        const [end] = await bus.position([this.channel]);
        if (end === undefined) throw new Error(`The bus returned no position of ${this.channel}.`);
        this.#buffer ??= new MessageBuffer(this.channel, end);
        this.#scheduleFanOut();
        if (this.#isStale) void this.catchUp();
      }
    } catch (error) {
      if (!this.#isClosed) onBusFailure(error);
    }
  }

  /** Reads the bus up to its end. Never rejects: a failed read is retried by the hub. */
  async catchUp(): Promise<void> {
    this.#isStale = true;
    const buffer = this.#buffer;
    if (!buffer) return this.start();
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      while (this.#isStale && !this.#isClosed) {
        this.#isStale = false;
        await this.#readNew(buffer);
      }
    } catch (error) {
      this.#isStale = true;
      if (!this.#isClosed) this.#options.onBusFailure(error);
    } finally {
      this.#isReading = false;
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#unwatch?.();
  }

  async #readNew(buffer: MessageBuffer): Promise<void> {
    for (let more = true; more && !this.#isClosed; ) {
      const result = await this.#options.bus.read(this.channel, buffer.end, READ_LIMIT);
      if (result.gap) buffer.reset(result.end);
      else buffer.append(result.messages, result.end);
      if (result.gap || result.messages.length > 0) this.#scheduleFanOut();
      more = result.more;
    }
  }

  readonly #receive = (entry?: Entry | Progress): void => {
    if (this.#isClosed) return;
    const buffer = this.#buffer;
    if (entry && entry.data === undefined) {
      // The subscribers are not notified: they learn the new end with their next ping.
      if (!this.#isReading && !this.#isStale) buffer?.advance(entry.position);
      return;
    }
    // During a read, its result may contain the same message. If one is due, messages may be missing.
    if (!entry || !buffer || this.#isReading || this.#isStale || !buffer.isContinuedBy(entry))
      return void this.catchUp();
    buffer.append([entry], entry.position);
    this.#scheduleFanOut();
  };

  #scheduleFanOut(): void {
    if (this.#isFanOutScheduled) return;
    this.#isFanOutScheduled = true;
    // Outside requests: writing to event streams is not part of the request that published the message.
    runOutsideRequests(() => setImmediate(() => this.#fanOut()));
  }

  #fanOut(): void {
    this.#isFanOutScheduled = false;
    for (const subscriber of this.subscribers) subscriber.notify();
  }
}
