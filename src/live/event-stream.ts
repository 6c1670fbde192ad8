import type { BodyProducer, BodySink } from "../http/index.ts";
import { GAP_EVENT, type GapReason } from "../protocol/index.ts";
import type { Subscriber } from "./channel-subscription.ts";
import { formatCursor } from "./cursor.ts";
import type { FeedReader, Gap } from "./feed-reader.ts";
import { type EncodedMessage, takeChunk } from "./message-buffer.ts";
import type { LiveConnection, SubscriptionHub } from "./subscription-hub.ts";

/** The options of an {@link EventStream}. */
export interface EventStreamOptions {
  readonly readers: readonly FeedReader[];
  /** The gaps to report at the start. */
  readonly gaps: readonly Gap[];
  /** Called once when the stream has ended, regardless of which side ended it. */
  readonly onClosed: () => void;
}

/** The interval of pings. @see docs/protocol.md 10.5 */
const PING_MS = 20_000;

/** How long a client may read nothing before it is disconnected. It resumes from its cursor. */
const STALL_TIMEOUT_MS = 10_000;

/** The lifetime of an event stream: random, so that clients do not reconnect at the same time. */
const LIFETIME_MS = [270_000, 300_000] as const;

/** How long a client waits before it reconnects: random for the same reason. */
const RETRY_MS = [1_000, 5_000] as const;

const PING = Buffer.from("event: ping\ndata: 1\n\n");

/**
 * One event stream. It sends the messages of each feed from that feed's position on, and writes no more than the client
 * reads: at most one write is buffered. Further messages stay in the bus and are read from there later.
 */
export class EventStream implements Subscriber, LiveConnection, BodyProducer {
  readonly #hub: SubscriptionHub;
  readonly #sink: BodySink;
  readonly #readers: readonly FeedReader[];
  readonly #onClosed: () => void;
  readonly #endsAtMs: number;
  #pingedAtMs: number;
  /** Since when the client has not read the last write, by `performance.now`; `null` if more can be written. */
  #blockedSinceMs: number | null = null;
  /** Resolves the promises of writers that wait until more can be written. */
  #capacityWaiters: (() => void)[] = [];
  #isOpen = true;

  /** Starts the event stream: subscribes to its channels, and writes gaps and missed messages. */
  constructor(hub: SubscriptionHub, sink: BodySink, { readers, gaps, onClosed }: EventStreamOptions) {
    const now = performance.now();
    this.#hub = hub;
    this.#sink = sink;
    this.#readers = readers;
    this.#onClosed = onClosed;
    this.#endsAtMs = now + randomBetween(LIFETIME_MS);
    this.#pingedAtMs = now - randomBetween([0, PING_MS]); // so that streams opened together are not pinged together
    hub.addConnection(this);
    for (const reader of readers) if (!reader.isEnded) reader.attach(hub.subscribe(reader.channel, this));
    this.#write(`retry: ${randomBetween(RETRY_MS)}\n\n`);
    for (const { reader, reason } of gaps) this.#writeGap(reader, reason);
    this.notify();
  }

  /** Writes the messages of all feeds, as much as the client reads. */
  notify(): void {
    for (const reader of this.#readers) {
      while (this.#isOpen && this.#blockedSinceMs === null && !reader.isEnded && !reader.isReading) {
        if (!reader.isLive) void this.#catchUp(reader);
        else if (!this.#writeNext(reader)) break;
      }
    }
  }

  onDrain(): void {
    this.#blockedSinceMs = null;
    this.#resumeWriters();
    this.notify();
  }

  onClose(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#hub.removeConnection(this);
    for (const { channel } of this.#readers) this.#hub.unsubscribe(channel, this);
    this.#resumeWriters();
    this.#onClosed();
  }

  tick(nowMs: number): void {
    if (!this.#isOpen) return;
    if (this.#blockedSinceMs !== null) {
      if (nowMs - this.#blockedSinceMs >= STALL_TIMEOUT_MS) this.#sink.destroy();
      return;
    }
    if (nowMs >= this.#endsAtMs) {
      this.end();
      return;
    }
    if (nowMs - this.#pingedAtMs >= PING_MS) {
      this.#pingedAtMs = nowMs;
      this.#write(PING);
    }
    this.notify(); // retries failed reads of the bus
  }

  end(): void {
    this.#sink.end();
    this.onClose(); // nothing may be written after the end
  }

  #write(chunk: string | Uint8Array): void {
    if (!this.#sink.write(chunk) && this.#isOpen) this.#blockedSinceMs = performance.now();
  }

  /** Writes the next messages of a live reader. @returns whether there were any */
  #writeNext(reader: FeedReader): boolean {
    if (this.#readers.length === 1) {
      const chunk = reader.takeChunk();
      if (chunk) this.#write(chunk.bytes);
      return chunk !== null;
    }
    const messages = reader.takeMessages();
    if (messages.length === 0) return false;
    this.#write(this.#encodeEvents(reader, messages));
    return true;
  }

  /** Reads the bus for a reader until it is live. A failed read is retried at the next tick. */
  async #catchUp(reader: FeedReader): Promise<void> {
    reader.isReading = true;
    try {
      while (this.#isOpen && !reader.isLive && (await this.#readBus(reader)));
    } catch (error) {
      this.#hub.busFailed(error);
      return;
    } finally {
      reader.isReading = false;
    }
    if (reader.isLive) this.notify();
  }

  /** @returns whether to read again now */
  async #readBus(reader: FeedReader): Promise<boolean> {
    const result = await this.#hub.read(reader.channel, reader.position, reader.limit);
    if (!this.#isOpen) return false;
    const messages = reader.encodeResult(result);
    if (typeof messages === "string") {
      this.#writeGap(reader, messages);
      return false;
    }
    if (messages.length === 0 && !result.more) return !reader.moveToEnd(result.end) && reader.refreshBuffer();
    if (!(await this.#writeAll(reader, messages))) return false;
    reader.moveTo(result.end);
    if (!result.more) await reader.refreshBuffer();
    return true;
  }

  /** Writes messages in chunks, each after the client has read the previous one. @returns whether all were written */
  async #writeAll(reader: FeedReader, messages: readonly EncodedMessage[]): Promise<boolean> {
    for (let index = 0; index < messages.length; ) {
      await this.#waitForCapacity();
      if (!this.#isOpen) return false;
      const chunk = takeChunk(messages, index);
      index += chunk.length;
      const text = this.#encodeEvents(reader, chunk);
      // After each chunk, because events of the other feeds, written in between, contain this position too.
      reader.moveTo(chunk.at(-1)?.position ?? reader.position);
      this.#write(text);
    }
    return this.#isOpen;
  }

  async #waitForCapacity(): Promise<void> {
    while (this.#isOpen && this.#blockedSinceMs !== null) {
      await new Promise<void>((resolve) => this.#capacityWaiters.push(resolve));
    }
  }

  #resumeWriters(): void {
    for (const resume of this.#capacityWaiters.splice(0)) resume();
  }

  #writeGap(reader: FeedReader, reason: GapReason): void {
    reader.end();
    const id = formatCursor(this.#readers.map(({ position }) => position));
    this.#write(`id: ${id}\nevent: ${GAP_EVENT}\ndata: ${reader.channel}\ndata: ${reason}\n\n`);
  }

  /**
   * Encodes messages of one feed. The id of each event is the cursor of all feeds, so that the client can resume after
   * any event that it has received.
   */
  #encodeEvents(reader: FeedReader, messages: readonly EncodedMessage[]): string {
    const positions = this.#readers.map(({ position }) => position);
    const index = this.#readers.indexOf(reader);
    let text = "";
    for (const { position, dataLines } of messages) {
      positions[index] = position;
      text += `id: ${formatCursor(positions)}\n${dataLines}`;
    }
    return text;
  }
}

function randomBetween([min, max]: readonly [number, number]): number {
  return Math.round(min + Math.random() * (max - min));
}
