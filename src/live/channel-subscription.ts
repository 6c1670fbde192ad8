import type { Bus, Message, Notification, Position } from "./bus/index.ts";
import { MessageBuffer } from "./message-buffer.ts";

/** The maximum number of messages of one read of the bus. */
export const READ_LIMIT = 256;

/** Receives the messages of a channel: a connection. */
export interface Subscriber {
  /** Called when there may be new messages, at most once in a turn of the event loop. */
  notify(): void;
}

/** Observes a subscription: the hub. */
export interface SubscriptionObserver {
  /** Called when there is something new for the subscribers. */
  channelChanged(subscription: ChannelSubscription): void;
  /** Called when an operation of the bus failed. It will be retried. */
  busFailed(error: unknown): void;
}

/**
 * The subscription of this process to one channel: one `watch` of the bus for any number of subscribers, and a buffer
 * of recent messages. While the bus is unreachable the subscription is unchanged, and it catches up afterwards.
 */
export class ChannelSubscription {
  readonly channel: string;
  readonly subscribers = new Set<Subscriber>();
  /** Since when there are no subscribers, by `performance.now`; `null` while there are. */
  idleSinceMs: number | null = null;

  readonly #bus: Bus;
  readonly #observer: SubscriptionObserver;
  #buffer: MessageBuffer | null = null;
  #unwatch: (() => void) | null = null;
  #isClosed = false;
  #isReading = false;
  /** Whether the bus may have messages after those that are being read. */
  #isStale = false;
  /** The start in progress. */
  #starting: Promise<void> | null = null;

  constructor(channel: string, bus: Bus, observer: SubscriptionObserver) {
    this.channel = channel;
    this.#bus = bus;
    this.#observer = observer;
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
    try {
      if (!this.#unwatch) {
        const unwatch = await this.#bus.watch(this.channel, (notification) => this.#onNotification(notification));
        if (this.#isClosed) return unwatch();
        this.#unwatch = unwatch;
      }
      if (!this.#buffer) {
        const [end] = await this.#bus.position([this.channel]);
        if (end === undefined) throw new Error(`The bus returned no position of ${this.channel}.`);
        this.#buffer ??= new MessageBuffer(this.channel, end);
        this.#observer.channelChanged(this);
        if (this.#isStale) void this.catchUp();
      }
    } catch (error) {
      if (!this.#isClosed) this.#observer.busFailed(error);
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
      if (!this.#isClosed) this.#observer.busFailed(error);
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
      const result = await this.#bus.read(this.channel, buffer.end, READ_LIMIT);
      if (result.gap) buffer.reset(result.end);
      else buffer.append(result.messages, result.end);
      if (result.gap || result.messages.length > 0) this.#observer.channelChanged(this);
      more = result.more;
    }
  }

  #onNotification(notification?: Notification): void {
    if (this.#isClosed) return;
    const buffer = this.#buffer;
    // During a read, its result may contain the same messages.
    const messages = buffer && notification && !this.#isReading ? newMessages(notification, buffer.end) : null;
    const last = messages?.at(-1);
    if (!buffer || !messages || !last) return void this.catchUp();
    buffer.append(messages, last.position);
    this.#observer.channelChanged(this);
  }
}

/**
 * Returns the messages of a notification that come after a position; `null` if messages between the position and the
 * notification may be missing. Positions of different lengths are not compared here: the bus is read instead.
 */
function newMessages({ after, messages }: Notification, end: Position): readonly Message[] | null {
  if (after === end) return messages;
  const isComparable = [after, ...messages.map(({ position }) => position)].every(
    ({ length }) => length === end.length,
  );
  return isComparable && after < end ? messages.filter(({ position }) => position > end) : null;
}
