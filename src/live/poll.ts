import type { Message, ReadLimit } from "../backends/index.ts";
import type { GapReason } from "../protocol/index.ts";
import type { Subscriber } from "./channel-subscription.ts";
import { formatCursor } from "./cursor.ts";
import { type FeedReader, gapReason } from "./feed-reader.ts";
import type { LiveConnection, SubscriptionHub } from "./subscription-hub.ts";
import type { SubscriptionRequest } from "./subscription-request.ts";
import { writeLimit } from "./write-limit.ts";

/** About the maximum size of the messages in one response. A response that is full has `more`. */
const MAX_RESPONSE_BYTES = 128 * 1024;

/** How much is read for a poll at a time. */
const LIMIT: ReadLimit = { ...writeLimit(1), bytes: 64 * 1024 };

/** How long a poll waits for messages. */
export interface PollOptions {
  /** The time by `performance.now` at which it stops waiting. */
  readonly untilMs: number;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
}

/** One poll: collects the messages of its feeds, and waits while there are none. */
export class Poll implements Subscriber, LiveConnection {
  readonly #hub: SubscriptionHub;
  readonly readers: readonly FeedReader[];
  /** The events of the response, as JSON. */
  readonly #events: string[] = [];
  /** The gaps of the response, as JSON. */
  readonly #gaps: string[] = [];
  #bytes = 0;
  #isSubscribed = false;
  /** Whether there may be messages since the last collection. */
  #isNotified = false;
  #isEnding = false;
  #isSignedOut = false;
  /** Ends the wait in progress. */
  #resume: (() => void) | null = null;

  constructor(hub: SubscriptionHub, { readers, gaps }: SubscriptionRequest) {
    this.#hub = hub;
    this.readers = readers;
    for (const { reader, reason } of gaps) this.#addGap(reader, reason);
  }

  /**
   * Collects messages until there is at least one or a gap, or the time is over.
   *
   * @throws Error when the bus fails
   */
  async run(options: PollOptions): Promise<void> {
    const { untilMs, signal } = options;
    if (untilMs > performance.now()) this.#subscribe();
    else this.#attachExisting();
    await this.#collect();
    while (this.#isEmpty && !this.#isEnding && !signal.aborted && performance.now() < untilMs) {
      await this.#waitForNotification(options);
      await this.#collect();
    }
  }

  /** Returns the body of the response. @see docs/protocol.md 10.6 */
  toJson(): string {
    const cursor = formatCursor(this.readers.map(({ position }) => position));
    const more = this.#bytes < MAX_RESPONSE_BYTES ? "" : ',"more":true';
    return `{"events":[${this.#events.join()}],"gaps":[${this.#gaps.join()}],"cursor":${JSON.stringify(cursor)}${more}}`;
  }

  notify(): void {
    this.#isNotified = true;
    this.#resume?.();
  }

  /** Retries while the buffer of a channel cannot be read, for example after the bus failed. */
  tick(): void {
    if (this.readers.some((reader) => !reader.isEnded && !reader.isLive)) this.notify();
  }

  end(): void {
    this.#isEnding = true;
    this.#hub.removeConnection(this);
    for (const { channel } of this.readers) this.#hub.unsubscribe(channel, this);
    this.#resume?.();
  }

  /** Ends the poll because its sign-in has ended. The response contains what was collected until now. */
  signOut(): void {
    this.#isSignedOut = true;
    this.end();
  }

  get #isEmpty(): boolean {
    return this.#events.length === 0 && this.#gaps.length === 0;
  }

  #subscribe(): void {
    this.#isSubscribed = true;
    this.#hub.addConnection(this);
    for (const reader of this.readers) {
      if (!reader.isEnded) reader.attach(this.#hub.subscribe(reader.channel, this));
    }
  }

  /** Uses the buffers of channels that other connections subscribe to: the bus need not be read for them. */
  #attachExisting(): void {
    for (const reader of this.readers) {
      const subscription = this.#hub.getSubscription(reader.channel);
      if (subscription) reader.attach(subscription);
    }
  }

  async #collect(): Promise<void> {
    this.#isNotified = false;
    for (const reader of this.readers) {
      if (!reader.isEnded && performance.now() >= reader.expiresAtMs) this.#addGap(reader, "expired");
      for (let more = true; more && !reader.isEnded && this.#bytes < MAX_RESPONSE_BYTES; ) {
        more = await this.#readNext(reader);
      }
    }
  }

  /** Reads the next messages of a feed. @returns whether to read again now */
  async #readNext(reader: FeedReader): Promise<boolean> {
    if (this.#isSignedOut) return false;
    if (reader.isLive) {
      const messages = reader.takeMessages(LIMIT);
      this.#addMessages(reader, messages);
      return messages.length > 0;
    }
    const result = await this.#hub.read(reader.channel, reader.position, LIMIT);
    if (this.#isSignedOut) return false; // messages of after that may be among these
    const gap = gapReason(result);
    if (gap !== null) {
      this.#addGap(reader, gap);
      return false;
    }
    if (this.#isSubscribed && result.messages.length === 0 && !result.more) return reader.moveToEnd(result.end);
    this.#addMessages(reader, result.messages);
    reader.moveTo(result.end);
    return result.more;
  }

  #addMessages(reader: FeedReader, messages: readonly Message[]): void {
    this.#hub.counts.delivered += messages.length;
    const channel = JSON.stringify(reader.channel);
    for (const { data } of messages) {
      this.#events.push(`[${channel},${data}]`);
      this.#bytes += data.length;
    }
  }

  #addGap(reader: FeedReader, reason: GapReason): void {
    reader.end();
    const windowMs = this.#hub.countGap(reader.channel, reason);
    this.#gaps.push(JSON.stringify([reader.channel, reason, ...(windowMs === undefined ? [] : [windowMs])]));
  }

  #waitForNotification({ untilMs, signal }: PollOptions): Promise<void> {
    return new Promise((resolve) => {
      const resume = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", resume);
        this.#resume = null;
        resolve();
      };
      const timer = setTimeout(resume, Math.max(0, untilMs - performance.now()));
      signal.addEventListener("abort", resume);
      this.#resume = resume;
      if (this.#isNotified || this.#isEnding) resume();
    });
  }
}
