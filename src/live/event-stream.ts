import type { Message, Position, ReadLimit } from "../backends/index.ts";
import {
  type BodyProducer,
  type BodySink,
  type HandlerResponse,
  PushedBody,
  type RequestContext,
} from "../http/index.ts";
import { EVENT_STREAM_TYPE, GAP_EVENT, type GapReason, START, TAGS_EVENT } from "../protocol/index.ts";
import { watchFinalSession } from "../session/index.ts";
import type { Subscriber } from "./channel-subscription.ts";
import { feedTags, formatCursor, shortId } from "./feed.ts";
import { type FeedReader, gapReason } from "./feed-reader.ts";
import { encodeEvent } from "./message-buffer.ts";
import { type PresenceInput, PresenceStream } from "./presence-rooms.ts";
import type { QueryStream, RequestedQueries } from "./queries/live-queries.ts";
import { isRetryOutdated, retryMs } from "./spread.ts";
import type { LiveConnection, SubscriptionHub } from "./subscription-hub.ts";
import type { SubscriptionRequest } from "./subscription-request.ts";
import { writeLimit } from "./write-limit.ts";

/** The options of an {@link EventStream}. */
export interface EventStreamOptions extends Pick<SubscriptionRequest, "readers" | "gaps" | "hasShortIds"> {
  /** The tags of the channels of the feeds, as JSON, for a response to POST. */
  readonly tags?: string | undefined;
  /** Called once when the stream has ended, regardless of which side ended it. */
  readonly onClosed: () => void;
}

/** The interval of pings. @see docs/protocol.md 10.5 */
const PING_MS = 20_000;

/** How long a client may read nothing before it is disconnected. It resumes from its cursor. */
const STALL_TIMEOUT_MS = 10_000;

/** The lifetime of an event stream: random, so that clients do not reconnect at the same time. */
const LIFETIME_MS = [270_000, 300_000] as const;

const PING = "event: ping\ndata: 1\n\n";

/**
 * One event stream. It sends the messages of each feed from that feed's position on, and writes no more than the client
 * reads: the bus is read for one feed at a time, only when the last write has been sent, and no more than for one write.
 * So at most two writes are buffered: that of a read, and one of live messages that came during the read. Further messages
 * stay in the bus and are read from there later.
 */
export class EventStream implements Subscriber, LiveConnection, BodyProducer {
  readonly #hub: SubscriptionHub;
  readonly #sink: BodySink;
  readonly readers: readonly FeedReader[];
  readonly #hasShortIds: boolean;
  readonly #onClosed: () => void;
  readonly #endsAtMs: number;
  #pingedAtMs: number;
  /** Since when the client has not read the last write, by `performance.now`; `null` if more can be written. */
  #blockedSinceMs: number | null = null;
  readonly #limit: ReadLimit;
  /** The index of the reader whose turn is next. */
  #turn = 0;
  /** The reader for which the bus is being read: of no other one at that time, and it takes nothing else meanwhile. */
  #catchingUp: FeedReader | null = null;
  #isOpen = true;

  /** Starts the event stream: subscribes to its channels, and writes gaps and missed messages. */
  constructor(
    hub: SubscriptionHub,
    sink: BodySink,
    { readers, gaps, hasShortIds, tags, onClosed }: EventStreamOptions,
  ) {
    const now = performance.now();
    this.#hub = hub;
    this.#sink = sink;
    this.readers = readers;
    this.#hasShortIds = hasShortIds;
    this.#onClosed = onClosed;
    this.#limit = writeLimit(hasShortIds ? 1 : readers.length);
    this.#endsAtMs = now + randomBetween(LIFETIME_MS);
    this.#pingedAtMs = now - randomBetween([0, PING_MS]); // so that streams opened together are not pinged together
    hub.addConnection(this);
    for (const reader of readers) if (!reader.isEnded) reader.attach(hub.subscribe(reader.channel, this));
    const tagsEvent = tags ? `event: ${TAGS_EVENT}\ndata: 1\ndata: ${tags}\n\n` : "";
    this.#write(`retry: ${retryMs(hub.connectionCount)}\n\n${tagsEvent}`);
    for (const { reader, reason } of gaps) this.#writeGap(reader, reason);
    this.notify();
  }

  /** Writes the messages of all feeds, as much as the client reads: in turns, so that a busy feed does not delay others. */
  notify(): void {
    const { length } = this.readers;
    for (let idleTurns = 0; idleTurns < length && this.#hasRoom; this.#turn = (this.#turn + 1) % length) {
      idleTurns = this.#writeNext(this.#turn) ? 0 : idleTurns + 1;
    }
  }

  onDrain(): void {
    this.#blockedSinceMs = null;
    this.notify();
  }

  onClose(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#hub.removeConnection(this);
    for (const { channel } of this.readers) this.#hub.unsubscribe(channel, this);
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
      this.#writePing();
    }
    for (const reader of this.readers) {
      if (!reader.isEnded && nowMs >= reader.expiresAtMs) this.#writeGap(reader, "expired");
    }
    this.notify(); // retries failed reads of the bus
  }

  end(): void {
    this.#sink.end();
    this.onClose(); // nothing may be written after the end
  }

  /**
   * Writes a ping, with the positions that have advanced without a message since the client was last told: otherwise a quiet
   * feed would fall behind what the bus stores.
   */
  #writePing(): void {
    const { connectionCount } = this.#hub;
    const retry = isRetryOutdated(connectionCount) ? `retry: ${retryMs(connectionCount)}\n` : "";
    const changed: string[] = [];
    for (const [index, reader] of this.readers.entries()) {
      if (reader.takeUntoldPosition()) changed.push(shortId(index, reader.position));
    }
    const cursor = this.#hasShortIds ? changed.join() : formatCursor(this.readers.map(({ position }) => position));
    this.#write(changed.length > 0 ? `${retry}id: ${cursor}\n${PING}` : retry + PING);
  }

  /** Whether the client has read everything that was written. */
  get #hasRoom(): boolean {
    return this.#isOpen && this.#blockedSinceMs === null;
  }

  #write(chunk: string | Uint8Array): void {
    if (!this.#sink.write(chunk)) this.#waitForDrain();
  }

  /** Writes bytes that other event streams write too. */
  #writeShared(bytes: Uint8Array): void {
    const sink = this.#sink;
    if (!(sink.writeShared ? sink.writeShared(bytes) : sink.write(bytes))) this.#waitForDrain();
  }

  #waitForDrain(): void {
    if (this.#isOpen) this.#blockedSinceMs = performance.now();
  }

  /**
   * Writes the next messages of a feed, or starts to read the bus for it.
   *
   * @param index the index of its reader
   * @returns whether messages were written
   */
  #writeNext(index: number): boolean {
    const reader = this.readers[index];
    // A reader can become live during its read, whose result then contains the same messages as the buffer.
    if (!reader || reader.isEnded || reader === this.#catchingUp) return false;
    if (!reader.isLive) {
      if (this.#catchingUp === null) void this.#catchUp(reader);
      return false;
    }
    if (this.#hasShortIds || this.readers.length === 1) {
      const chunk = reader.takeChunk(this.#hasShortIds ? index : null);
      if (chunk) {
        this.#hub.counts.delivered += chunk.count;
        this.#writeShared(chunk.bytes);
      }
      return chunk !== null;
    }
    const messages = reader.takeMessages(this.#limit);
    if (messages.length > 0) this.#writeEvents(reader, messages);
    return messages.length > 0;
  }

  /** Reads the bus once for a reader that is not live. A failed read is retried at the next tick. */
  async #catchUp(reader: FeedReader): Promise<void> {
    this.#catchingUp = reader;
    let canContinue = false;
    try {
      canContinue = await this.#readBus(reader);
    } catch (error) {
      this.#hub.busFailed(error);
    } finally {
      this.#catchingUp = null;
      this.#turn = (this.readers.indexOf(reader) + 1) % this.readers.length;
    }
    if (canContinue) this.notify();
  }

  /** @returns whether to continue now, with this feed or others */
  async #readBus(reader: FeedReader): Promise<boolean> {
    const result = await this.#hub.read(reader.channel, reader.position, this.#limit);
    if (!this.#isOpen) return false;
    if (reader.isEnded) return true; // the feed has expired during the read
    const gap = gapReason(result);
    if (gap !== null) {
      this.#writeGap(reader, gap);
      return true;
    }
    if (result.messages.length === 0 && !result.more) {
      const isStart = reader.position === START;
      const canContinue = await reader.moveToEnd(result.end);
      // The client is told at once where an empty channel starts: after a lost connection, what was removed since is a gap.
      if (isStart && this.#isOpen) this.#writePing();
      return canContinue;
    }
    // Written even if live messages of other feeds have filled the room since: otherwise a busy feed would prevent this
    // one from catching up.
    const last = result.messages.at(-1);
    if (last) {
      this.#writeEvents(reader, result.messages);
      reader.markSent(last.position);
    }
    reader.moveTo(result.end);
    return true;
  }

  #writeGap(reader: FeedReader, reason: GapReason): void {
    reader.end();
    const windowMs = this.#hub.countGap(reader.channel, reason);
    const id = this.#idAfter(this.readers.indexOf(reader), reader.position);
    const data = [reader.channel, reason, ...(windowMs === undefined ? [] : [windowMs])];
    this.#write(`id: ${id}\nevent: ${GAP_EVENT}\n${data.map((line) => `data: ${line}\n`).join("")}\n`);
  }

  /** Writes messages of one feed. */
  #writeEvents(reader: FeedReader, messages: readonly Message[]): void {
    this.#hub.counts.delivered += messages.length;
    const index = this.readers.indexOf(reader);
    let text = "";
    for (const { position, data } of messages)
      text += encodeEvent(this.#idAfter(index, position), reader.channel, data);
    // As bytes, because Node would copy a long string for the socket, and keep both.
    this.#write(Buffer.from(text));
  }

  /** Returns the id of an event, after which the client can resume: that of a feed that has now a position. */
  #idAfter(index: number, position: Position): string {
    if (this.#hasShortIds) return shortId(index, position);
    return formatCursor(this.readers.map((reader, i) => (i === index ? position : reader.position)));
  }
}

function randomBetween([min, max]: readonly [number, number]): number {
  return Math.round(min + Math.random() * (max - min));
}

const HEADERS = {
  "content-type": EVENT_STREAM_TYPE,
  // no-transform: a proxy that compresses would delay messages until its block is full.
  "cache-control": "private, no-cache, no-transform",
  // nginx would buffer the response.
  "x-accel-buffering": "no",
} as const;

interface EventStreamContext {
  readonly context: RequestContext;
  /** Its presence tokens; `null` without any. */
  readonly presence: PresenceInput | null;
  /** Its queries; `null` without any. */
  readonly queries: RequestedQueries | null;
  /** Called once when the event stream has ended. */
  readonly release: () => void;
}

/**
 * Handles a request for an event stream with the messages of all its feeds. When its sign-in is revoked, it ends, and the
 * client learns from its next request which feeds have.
 *
 * @see docs/protocol.md 10.5
 */
export function handleEventStream(
  request: SubscriptionRequest,
  hub: SubscriptionHub,
  { context, presence, queries, release }: EventStreamContext,
): HandlerResponse {
  const tags = feedTags(request, context);
  const open = streamOpener(context, release);
  const body = new PushedBody((sink) => open(sink, { hub, request, tags, presence, queries }));
  return { status: 200, headers: HEADERS, body };
}

interface StreamStart extends Pick<EventStreamContext, "presence" | "queries"> {
  readonly hub: SubscriptionHub;
  readonly request: SubscriptionRequest;
  readonly tags: string;
}

/**
 * Returns a function that starts an event stream. It is apart from {@link handleEventStream}, because all closures of a function
 * share its variables: until the event stream ends, only what its end needs may be kept of the request.
 */
function streamOpener(
  context: RequestContext,
  release: () => void,
): (sink: BodySink, start: StreamStart) => BodyProducer {
  let stream: EventStream | undefined;
  let pages: PresenceStream | undefined;
  let values: QueryStream | undefined;
  let isRevoked = false;
  const unwatch = watchFinalSession(context, () => {
    isRevoked = true;
    pages?.revoke();
    stream?.end();
  });
  const onClosed = () => {
    pages?.close();
    values?.close();
    unwatch();
    release();
  };
  return (sink, { hub, request, tags, presence, queries }) => {
    const { readers, gaps, hasShortIds } = request;
    stream = new EventStream(hub, sink, { readers, gaps, hasShortIds, tags, onClosed });
    if (isRevoked) {
      stream.end();
      return stream;
    }
    if (presence) pages = new PresenceStream(stream, sink, presence);
    if (queries) values = queries.openStream(pages ?? stream, sink);
    return values ?? pages ?? stream;
  };
}
