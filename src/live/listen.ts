import { setTimeout as pause } from "node:timers/promises";
import type { Message, Position } from "../backends/index.ts";
import { ConfigError, rejectUnknownOptions } from "../config/index.ts";
import { currentContext, rejectInQuery } from "../http/index.ts";
import { type GapReason, type ListenedMessage, type MessageByName, START } from "../protocol/index.ts";
import { requireReadOldest } from "./app-bus.ts";
import { busOfListener } from "./app-registry.ts";
import { checkChannelName, checkFrom } from "./channel.ts";
import { FeedReader, gapReason } from "./feed-reader.ts";
import type { ServerListener, SubscriptionHub } from "./subscription-hub.ts";
import { writeLimit } from "./write-limit.ts";

/** The options of {@link listen}. */
export interface ListenOptions {
  /**
   * Ends the loop when it aborts: the loop throws the reason of the signal. In a request, the signal of the request ends it
   * too.
   */
  readonly signal?: AbortSignal;
  /** `"start"`: begins at the oldest stored message, in place of the current end of the channel. */
  readonly from?: "start";
  /** The `App` whose channel it is. Needed only outside a request, in a process with several applications. */
  readonly app?: object;
}

const LISTEN_OPTIONS: Readonly<Record<keyof ListenOptions, true>> = { signal: true, from: true, app: true };

/** The messages of a channel: what {@link listen} returns, for one `for await` loop. */
export interface LiveMessages<T> extends AsyncIterableIterator<T> {
  /**
   * Resolves when the position is known from which the loop begins: it receives every message whose `publish` starts after
   * that, in any process. Rejects if the loop ends before.
   */
  readonly ready: Promise<void>;
  return(): Promise<IteratorResult<T>>;
}

/**
 * Thrown by a loop over {@link listen} that cannot continue completely: messages are lost, or may be. Load the current
 * state, and listen again.
 *
 * @see docs/protocol.md 10.7
 */
export class GapError extends Error {
  readonly channel: string;
  /** `trimmed`: the next messages are no longer stored. `reset`: the bus has lost its history, or started a new one. */
  readonly reason: Exclude<GapReason, "expired">;

  constructor(channel: string, reason: Exclude<GapReason, "expired">) {
    const cause =
      reason === "reset"
        ? "the bus has lost its history, or was replaced"
        : "they are no longer stored, because the loop was slower than the publishers, or the bus was unreachable for long";
    super(
      `listen: messages of the channel ${channel} may be missing (${reason}): ${cause}. Catch this error, load the current ` +
        "state, and listen again.",
    );
    this.channel = channel;
    this.reason = reason;
  }

  override get name(): string {
    return "GapError";
  }
}

/** How much is read from the bus at a time. Further messages stay there until the loop has taken these. */
const LIMIT = writeLimit(1);

/** How long to wait before the position is requested again. */
const RETRY_MS = 1_000;

/**
 * Returns the messages of a channel on the server, as they were serialised: each once, in order and complete, as a page
 * receives them. Use it anywhere on the server, with `for await`.
 *
 * It begins at the end of the channel at the time of the call; `ready` resolves when this position is known. If messages are
 * lost, the loop throws a {@link GapError}, and never continues without them. While the bus is unreachable, it waits. A loop
 * that is slower than the publishers needs no more memory: the bus stores the messages.
 *
 * `break` and `return` end it. When the application is closed, the loop ends as after its last message; in a request also
 * when the process stops. Outside a request, it listens to the only application of the process, and waits for it if there is
 * none yet.
 *
 * The type of the messages is the one that `Channels` declares for the name. For an undeclared name, pass it as
 * `listen<Message>(name)`.
 *
 * @param name 1 to 128 bytes, no control characters
 * @throws TypeError for an invalid name or option
 * @throws Error outside a request, if the process has several applications: pass one as the option `app`
 * @see docs/live.md
 * @example
 * for await (const message of listen("control:1", { signal })) if (message === "stop") break;
 */
export function listen<T = MessageByName, Name extends string = string>(
  name: Name,
  options: ListenOptions = {},
): LiveMessages<ListenedMessage<T, Name>> {
  rejectInQuery("listen()");
  checkChannelName(name, "listen");
  checkOptions(options);
  const bus = busOfListener(options.app);
  const context = currentContext();
  const isInRequest = context !== undefined && !context.hasEnded;
  const signals = [options.signal, isInRequest ? context.signal : undefined].filter((signal) => signal !== undefined);
  const isFromStart = options.from === "start";
  if (isFromStart && !(bus instanceof Promise)) requireReadOldest(bus.open());
  const hub = bus instanceof Promise ? bus.then((appBus) => appBus.openHub()) : bus.openHub();
  return new ChannelMessages(name, { hub, signals, isFromStart, endsWithDrain: isInRequest });
}

function checkOptions(options: ListenOptions): void {
  rejectUnknownOptions(options, LISTEN_OPTIONS, "listen()");
  const { signal, from }: { readonly signal?: unknown; readonly from?: unknown } = options;
  if (signal !== undefined && !isAbortSignal(signal)) {
    throw new TypeError(
      `listen: the option signal is of type ${typeof signal}. Pass an AbortSignal, such as that of an AbortController.`,
    );
  }
  checkFrom(from, "listen");
}

/** By its members: hosts replace the classes of the web platform. */
function isAbortSignal(value: unknown): value is AbortSignal {
  return typeof value === "object" && value !== null && "aborted" in value && "addEventListener" in value;
}

interface ChannelMessagesOptions {
  /** A promise while no application exists. */
  readonly hub: SubscriptionHub | Promise<SubscriptionHub>;
  readonly signals: readonly AbortSignal[];
  readonly isFromStart: boolean;
  readonly endsWithDrain: boolean;
}

/** A call of `next` that waits for a message. */
interface PendingNext<T> {
  readonly resolve: (result: IteratorResult<T>) => void;
  readonly reject: (error: unknown) => void;
}

/** The iterator. Nothing refers to it before the first `next`: a call whose result is never used leaks nothing. */
class ChannelMessages<T> implements LiveMessages<T>, ServerListener {
  readonly ready: Promise<void>;
  readonly endsWithDrain: boolean;
  readonly #channel: string;
  readonly #signals: readonly AbortSignal[];
  /** `null` while no application exists. */
  #hub: SubscriptionHub | null = null;
  readonly #start: Promise<Position>;
  /** Created when the loop has begun and the position is known. */
  #reader: FeedReader | null = null;
  /** Messages that were read and not returned yet. */
  #messages: readonly Message[] = [];
  /** The index of the next one. */
  #nextIndex = 0;
  readonly #pending: PendingNext<T>[] = [];
  #hasBegun = false;
  #isRunning = false;
  /** Whether there may be messages since the last read. */
  #isNotified = false;
  /** Ends the wait in progress. */
  #resume: (() => void) | null = null;
  #hasEnded = false;
  /** What the next call of `next` throws. */
  #error: { readonly reason: unknown } | null = null;

  constructor(channel: string, { hub, signals, isFromStart, endsWithDrain }: ChannelMessagesOptions) {
    this.#channel = channel;
    this.#signals = signals;
    this.endsWithDrain = endsWithDrain;
    // Without a wait if the application exists: the bus in memory then returns the position of this moment.
    this.#start =
      hub instanceof Promise
        ? hub.then((opened) => this.#findStart(opened, isFromStart))
        : this.#findStart(hub, isFromStart);
    this.ready = this.#start.then(() => undefined);
    this.ready.catch(() => undefined); // the loop throws the same error
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<T>> {
    if (!this.#hasBegun) this.#begin();
    return new Promise((resolve, reject) => {
      this.#pending.push({ resolve, reject });
      if (this.#hasEnded) this.#settlePending();
      else void this.#run();
    });
  }

  async return(): Promise<IteratorResult<T>> {
    this.end();
    return { value: undefined, done: true };
  }

  notify(): void {
    this.#isNotified = true;
    this.#resume?.();
  }

  tick(): void {
    if (this.#reader?.isLive === false) this.notify(); // retries what has failed
  }

  end(error: { readonly reason: unknown } | null = null): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#error = error;
    for (const signal of this.#signals) signal.removeEventListener("abort", this.#onAbort);
    this.#hub?.removeListener(this);
    this.#hub?.unsubscribe(this.#channel, this);
    this.#messages = [];
    this.#resume?.();
    this.#settlePending();
  }

  #begin(): void {
    this.#hasBegun = true;
    for (const signal of this.#signals) {
      signal.addEventListener("abort", this.#onAbort);
      if (signal.aborted) this.#onAbort();
    }
    if (!this.#hasEnded) this.#hub?.addListener(this);
  }

  readonly #onAbort = (): void => {
    const aborted = this.#signals.find((signal) => signal.aborted);
    if (aborted) this.end({ reason: aborted.reason });
  };

  /** Returns the position from which the loop begins. While the bus is unreachable, it retries. */
  async #findStart(hub: SubscriptionHub, isFromStart: boolean): Promise<Position> {
    this.#hub = hub;
    if (this.#hasBegun && !this.#hasEnded) hub.addListener(this);
    while (!isFromStart) {
      try {
        return await hub.position(this.#channel);
      } catch (error) {
        if (this.#hasEnded || hub.isClosed)
          throw new Error("listen: the loop has ended, or the application was closed.");
        if (error instanceof ConfigError) throw error;
        hub.busFailed(error);
        await pause(RETRY_MS, undefined, { ref: false });
      }
    }
    return START;
  }

  /** Reads messages as long as there is a call of `next` that waits for one. */
  async #run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    try {
      while (this.#pending.length > 0 && !this.#hasEnded) {
        const message = this.#messages[this.#nextIndex];
        if (message) {
          this.#nextIndex++;
          this.#pending.shift()?.resolve({ value: JSON.parse(message.data), done: false });
        } else await this.#read();
      }
    } catch (reason) {
      this.end({ reason });
    } finally {
      this.#isRunning = false;
    }
  }

  /** Reads the next messages, or waits until there may be some. */
  async #read(): Promise<void> {
    this.#isNotified = false;
    this.#reader ??= await this.#subscribe();
    const reader = this.#reader;
    const hub = this.#hub;
    if (!reader || !hub) return;
    if (reader.isLive) {
      this.#setMessages(reader.takeMessages(LIMIT));
      if (this.#messages.length === 0) await this.#waitForNotification();
    } else if (!(await this.#readBus(hub, reader))) await this.#waitForNotification();
  }

  async #subscribe(): Promise<FeedReader | null> {
    const position = await this.#start;
    if (this.#hasEnded || !this.#hub) return null;
    const reader = new FeedReader(this.#channel, position);
    reader.attach(this.#hub.subscribe(this.#channel, this));
    return reader;
  }

  /**
   * Reads the bus once for a reader that is not live.
   *
   * @returns whether to continue now; otherwise the bus has to be read again later
   * @throws GapError if messages may be lost; ConfigError if the bus cannot be used
   */
  async #readBus(hub: SubscriptionHub, reader: FeedReader): Promise<boolean> {
    const result = await hub.read(this.#channel, reader.position, LIMIT).catch((error: unknown) => {
      if (error instanceof ConfigError) throw error;
      if (!this.#hasEnded) hub.busFailed(error);
      return null;
    });
    if (!result || this.#hasEnded) return false;
    const reason = gapReason(result);
    if (reason !== null) throw new GapError(this.#channel, reason);
    if (result.messages.length === 0 && !result.more) return reader.moveToEnd(result.end);
    this.#setMessages(result.messages);
    reader.moveTo(result.end);
    return true;
  }

  #setMessages(messages: readonly Message[]): void {
    this.#messages = messages;
    this.#nextIndex = 0;
  }

  #waitForNotification(): Promise<void> {
    return new Promise((resolve) => {
      this.#resume = () => {
        this.#resume = null;
        resolve();
      };
      if (this.#isNotified || this.#hasEnded) this.#resume();
    });
  }

  /** Ends the calls of `next` that wait: the first one throws the error of the loop, if it has one. */
  #settlePending(): void {
    for (const { resolve, reject } of this.#pending.splice(0)) {
      const error = this.#error;
      this.#error = null;
      if (error) reject(error.reason);
      else resolve({ value: undefined, done: true });
    }
  }
}
