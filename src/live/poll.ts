import type { Message, ReadLimit } from "../backends/index.ts";
import { type HandlerResponse, jsonResponse, type RequestContext, RequestError } from "../http/index.ts";
import type { GapReason } from "../protocol/index.ts";
import { watchFinalSession } from "../session/index.ts";
import type { Subscriber } from "./channel-subscription.ts";
import { feedTags, formatCursor, shortId } from "./feed.ts";
import { type FeedReader, gapReason } from "./feed-reader.ts";
import { type PresenceInput, PresencePoll } from "./presence-rooms.ts";
import type { PollWait, QueryPoll, RequestedQueries } from "./queries/live-queries.ts";
import type { LiveConnection, SubscriptionHub } from "./subscription-hub.ts";
import type { SubscriptionRequest } from "./subscription-request.ts";
import { writeLimit } from "./write-limit.ts";

/** About the maximum size of the events in one response. A response that is full has `more`. */
const MAX_RESPONSE_BYTES = 128 * 1024;

/** How much is read for a poll at a time. */
const LIMIT: ReadLimit = { ...writeLimit(1), bytes: 64 * 1024 };

/** One poll: collects the messages of its feeds, and waits while there are none. */
class Poll implements Subscriber, LiveConnection {
  readonly #hub: SubscriptionHub;
  readonly #hasShortIds: boolean;
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
  readonly #pages: PresencePoll | null;
  readonly #queries: QueryPoll | null;
  readonly #tags: string;

  constructor(
    hub: SubscriptionHub,
    request: SubscriptionRequest,
    { context, presence, queries }: Pick<PollContext, "context" | "presence" | "queries">,
  ) {
    const { readers, gaps, hasShortIds } = request;
    this.#hub = hub;
    this.#tags = feedTags(request, context);
    this.#hasShortIds = hasShortIds;
    this.readers = readers;
    for (const { reader, reason } of gaps) this.#addGap(reader, reason);
    this.#pages = presence && new PresencePoll(presence, () => this.notify());
    this.#queries = queries?.openPoll(() => this.notify()) ?? null;
  }

  /**
   * Collects messages until there is at least one or a gap, or the time is over.
   *
   * @throws Error when the bus fails
   */
  async run(options: PollWait): Promise<void> {
    const { untilMs, signal } = options;
    if (untilMs > performance.now()) this.#subscribe();
    else this.#attachExisting();
    await this.#pages?.whenReady();
    await this.#queries?.whenReady(options);
    await this.#collect();
    while (this.#isEmpty && !this.#isEnding && !signal.aborted && performance.now() < untilMs) {
      await this.#waitForNotification(options);
      await this.#collect();
    }
  }

  /** Returns the body of the response, with the positions of quiet feeds too. @see docs/protocol.md 10.6 */
  toJson(): string {
    for (const reader of this.readers) reader.advanceToEnd();
    const cursor = formatCursor(this.readers.map(({ position }) => position));
    const presence = this.#pages ? `,"presence":[${this.#pages.frames.join()}]` : "";
    const queries = this.#queries ? `,"query":[${this.#queries.takeFrames().join()}]` : "";
    const tags = this.#tags ? `,"tags":[["1",${this.#tags}]]` : "";
    const more = this.#bytes < MAX_RESPONSE_BYTES && this.#queries?.isEmpty !== false ? "" : ',"more":true';
    return `{"events":[${this.#events.join()}],"gaps":[${this.#gaps.join()}],"cursor":${JSON.stringify(cursor)}${presence}${queries}${tags}${more}}`;
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
    this.#pages?.close();
    this.#queries?.close();
    this.#isEnding = true;
    this.#hub.removeConnection(this);
    for (const { channel } of this.readers) this.#hub.unsubscribe(channel, this);
    this.#resume?.();
  }

  /** Ends the poll because its sign-in has ended. The response contains what was collected until now. */
  signOut(): void {
    this.#pages?.revoke();
    this.#isSignedOut = true;
    this.end();
  }

  get #isEmpty(): boolean {
    const hasEvents = this.#events.length + this.#gaps.length > 0;
    return !hasEvents && this.#pages?.isEmpty !== false && this.#queries?.isEmpty !== false;
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
    const index = this.readers.indexOf(reader);
    for (const { data, position } of messages) {
      const id = this.#hasShortIds ? `,"${shortId(index, position)}"` : "";
      const event = `[${channel},${data}${id}]`;
      this.#events.push(event);
      this.#bytes += event.length;
    }
  }

  #addGap(reader: FeedReader, reason: GapReason): void {
    reader.end();
    const windowMs = this.#hub.countGap(reader.channel, reason);
    this.#gaps.push(JSON.stringify([reader.channel, reason, ...(windowMs === undefined ? [] : [windowMs])]));
  }

  #waitForNotification({ untilMs, signal }: PollWait): Promise<void> {
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

/**
 * The longest wait of a poll whose client has too many connections open, in seconds. If it were 0, the further pages of
 * an office with one address would use up its live requests. The limit of these bounds how many such polls wait.
 */
const MAX_WAIT_ABOVE_LIMIT_SECONDS = 10;

/** A poll that passed the checks of `LiveUpdates`. */
interface PollContext {
  readonly context: RequestContext;
  /** Its presence tokens; `null` without any. */
  readonly presence: PresenceInput | null;
  /** Its queries; `null` without any. */
  readonly queries: RequestedQueries | null;
  /** Whether its client has too many connections open. It then waits for at most 10 seconds. */
  readonly isAboveLimit: boolean;
}

/**
 * Handles a poll: returns the messages after the cursor, at once if there are any, and otherwise when there are or
 * after `wait` seconds, or 10 if these are fewer and the client has too many connections open.
 *
 * @throws RequestError 503 while the bus cannot be read
 * @see docs/protocol.md 10.6
 */
export async function handlePoll(
  request: SubscriptionRequest,
  hub: SubscriptionHub,
  pollContext: PollContext,
): Promise<HandlerResponse> {
  const { context, isAboveLimit } = pollContext;
  const waitSeconds = Math.min(request.waitSeconds, isAboveLimit ? MAX_WAIT_ABOVE_LIMIT_SECONDS : Infinity);
  const poll = new Poll(hub, request, pollContext);
  const unwatch = watchFinalSession(context, () => poll.signOut());
  try {
    await poll.run({ untilMs: performance.now() + waitSeconds * 1000, signal: context.inbound.signal });
    return jsonResponse(200, poll.toJson());
  } catch (error) {
    hub.busFailed(error);
    throw new RequestError("internal", "Live updates are unavailable at the moment. Retry later.", {
      status: 503,
      headers: { "retry-after": "2" },
    });
  } finally {
    unwatch();
    poll.end();
  }
}
