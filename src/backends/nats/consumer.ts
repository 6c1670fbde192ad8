import type { Msg } from "@nats-io/transport-node";
import {
  type ActiveConsumer,
  consumerConfig,
  HEARTBEAT_MS,
  isNextDelivery,
  receiveControlMessage,
  retire,
} from "./active-consumer.ts";
import type { JetStreamContext } from "./connector.ts";
import { type DeliveredMessage, HeldMessages } from "./held-messages.ts";
import { parseDelivery, readMessageId } from "./position.ts";
import type { StreamState } from "./stream.ts";

/** How long without a heartbeat until the consumer is replaced. */
const HEARTBEAT_TIMEOUT_MS = 3_000;

/** How long to wait before creating a consumer again after the server refused it. */
const RECREATE_DELAY_MS = 250;

/** How many messages a consumer that continues after the one before receives first at most. */
const MAX_MISSED_MESSAGES = 50_000;

/** How late a barrier may arrive. */
export const MAX_LAG_MS = 5_000;

/** The least time between two changes of the filters: those that are requested meanwhile are made together. */
const CHANGE_INTERVAL_MS = 50;

/** The callbacks of a {@link NatsConsumer}. None may throw, except `context`, which may reject. */
export interface ConsumerHandlers {
  context(): Promise<JetStreamContext>;
  /** Called when deliveries have stopped: the stream may have been deleted. */
  onStopped(): void;
  /** Called with a sequence that the stream has reached. Messages after it are delivered. */
  onEnd(epoch: string, seq: number): void;
  /** Called with each message that the consumer receives, in order: with all that were published since the last `onResumed`. */
  onMessage(message: DeliveredMessage): void;
  /** Called when all messages published from now on are delivered. Earlier ones may have been missed. */
  onResumed(): void;
  /** Called when the subscription has received something that cannot be processed. */
  onUnexpected(): void;
}

/** What a consumer needs that receives some of the subjects. */
export interface ConsumerFilters {
  /** The subject of barriers. The consumer receives it too, and is replaced if one arrives late. */
  readonly barrierSubject: string;
  /** Returns the state of the stream at a time after the call. */
  inspect(): Promise<StreamState>;
  /** Called when the server does not filter. */
  onRefused(): void;
}

interface LastDelivery {
  readonly epoch: string;
  readonly subject: string;
  readonly seq: number;
  readonly id: string;
}

/**
 * Receives the new messages of the stream, in order, by one ordered push consumer: all of them, or with filters those of
 * some subjects. If a delivery is missing, or the server sends no heartbeat, the consumer is replaced by a new one. It
 * continues with the last delivery, so that nothing has to be read, unless too much was missed or the stream has another
 * epoch. Then it starts at the end of the stream.
 *
 * The filters of a consumer on the server never change. Another one with other filters takes its place, which continues
 * with the last delivery too. Until it is active both deliver, and each message is passed on when the first of them delivers
 * it.
 */
export class NatsConsumer {
  readonly #stream: string;
  readonly #handlers: ConsumerHandlers;
  readonly #filters: ConsumerFilters | null;
  /** The deliveries of a consumer with filters that are not passed on yet. */
  readonly #held: HeldMessages | null;
  /** The subjects to receive, with filters. */
  readonly #subjects = new Set<string>();
  #active: ActiveConsumer | undefined;
  /** The last delivery, with which the next consumer starts; undefined if there is none. */
  #last: LastDelivery | undefined;
  /** The sequence after which the first consumer with filters has started; undefined if the next one starts at the end. */
  #start: { readonly epoch: string; readonly seq: number } | undefined;
  /** Changes when the next consumer has to start at the end: one that is being created cannot continue any more. */
  #history = {};
  #starting: Promise<void> | undefined;
  /** The subjects of the consumer that is being created. */
  #nextSubjects: ReadonlySet<string> | undefined;
  #startedAtMs = Number.NEGATIVE_INFINITY;
  #heartbeatTimer: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** @param filters absent for a consumer of all subjects */
  constructor(stream: string, handlers: ConsumerHandlers, filters: ConsumerFilters | null = null) {
    this.#stream = stream;
    this.#handlers = handlers;
    this.#filters = filters;
    this.#held = filters && new HeldMessages({ ...handlers, inspect: filters.inspect, onLost: () => this.replace() });
  }

  /** The subjects that are covered or will be, with filters. */
  get subjects(): ReadonlySet<string> {
    return this.#subjects;
  }

  /** The sequence of the last delivery, or after which the consumer has started; 0 if neither is known. */
  get lastSeq(): number {
    return this.#last?.seq ?? this.#start?.seq ?? 0;
  }

  /** Since when it receives messages without interruption, by `performance.now`; Infinity if it does not. */
  get activeSinceMs(): number {
    return this.#active?.sinceMs ?? Number.POSITIVE_INFINITY;
  }

  /**
   * Starts the consumer if it is not active. When it resolves, every message published from then on is
   * delivered.
   *
   * @throws Error if the server is unreachable
   */
  async start(): Promise<void> {
    if (!this.#active) await this.#createOnce();
  }

  /**
   * Receives a subject too. When it resolves, every message published to it from then on is delivered, until it is removed.
   *
   * @throws Error if the server is unreachable, or does not filter
   */
  async cover(subject: string): Promise<void> {
    this.#subjects.add(subject);
    while (!this.isCovered(subject)) await this.#createOnce();
  }

  /** Returns whether the messages of a subject are delivered, also by a consumer that is about to take over. */
  isCovered(subject: string): boolean {
    return this.#active?.subjects?.has(subject) === true && this.#nextSubjects?.has(subject) !== false;
  }

  /**
   * Receives the subjects no longer that do not pass a test. Those that are covered again meanwhile are received.
   *
   * @returns the subjects that are removed
   */
  removeUnless(isNeeded: (subject: string) => boolean): readonly string[] {
    const removed = [...this.#subjects].filter((subject) => !isNeeded(subject));
    for (const subject of removed) this.#subjects.delete(subject);
    // A failure has no effect: the consumer in use receives more than is needed.
    if (removed.length > 0 && this.#subjects.size > 0 && this.#active) this.#createOnce().catch(() => undefined);
    return removed;
  }

  /** Replaces the consumer, if it is active: it may have missed messages. */
  restart(): void {
    const active = this.#active;
    if (!active) return;
    this.#active = undefined;
    retire(active);
    this.#handlers.onStopped();
    void this.startUntilActive();
  }

  /** Replaces the consumer by one that starts at the end of the stream: messages are missing, or arrive too late. */
  replace(): void {
    this.#forget();
    const active = this.#active;
    this.restart();
    if (active) this.#deleteConsumer(active);
  }

  /** Stops receiving messages. */
  close(): void {
    this.#isClosed = true;
    clearInterval(this.#heartbeatTimer);
    this.#held?.clear();
    if (!this.#active) return;
    retire(this.#active);
    if (this.#filters) this.#deleteConsumer(this.#active);
    this.#active = undefined;
  }

  /** Starts the consumer, however long it takes. Never rejects. */
  async startUntilActive(): Promise<void> {
    while (!this.#isClosed && !this.#active) {
      try {
        await this.start();
      } catch {
        // The connector has logged it.
        await new Promise((resolve) => setTimeout(resolve, RECREATE_DELAY_MS).unref());
      }
    }
  }

  /** Creates a consumer on the server. If one is being created, waits for that one. */
  #createOnce(): Promise<void> {
    this.#starting ??= this.#createAfterPause().finally(() => {
      this.#starting = undefined;
      this.#nextSubjects = undefined;
    });
    return this.#starting;
  }

  async #createAfterPause(): Promise<void> {
    const pauseMs = this.#active ? this.#startedAtMs + CHANGE_INTERVAL_MS - performance.now() : 0;
    if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs).unref());
    if (this.#isClosed) throw new Error("The consumer is closed.");
    this.#startedAtMs = performance.now();
    await this.#create();
  }

  async #create(): Promise<void> {
    const context = await this.#handlers.context();
    const { connection, epoch, manager } = context;
    const inbox = context.createInbox();
    const callback = (error: Error | null, message: Msg) => {
      // If the server refuses the subscription, the callback gets an error.
      if (error) return this.#discard(consumer);
      try {
        this.#receive(consumer, message);
      } catch {
        // An error that is thrown here would end the reading of the connection. Any client of the server can
        // publish to the subject of the subscription.
        this.#handlers.onUnexpected();
        this.#discard(consumer);
      }
    };
    const subscription = connection.subscribe(inbox, { callback });
    const history = this.#history;
    const last = this.#last?.epoch === epoch ? this.#last : undefined;
    const start = last ?? (this.#start?.epoch === epoch ? this.#start : undefined);
    const subjects = this.#subjectsAfter(last);
    this.#nextSubjects = subjects ?? undefined;
    const consumer: ActiveConsumer = {
      ...{ context, subscription, epoch, subjects, history, first: last, isContinuation: start !== undefined },
      ...{ consumerSequence: 0, streamSequence: 0, lastActivityMs: performance.now(), name: undefined },
      ...{ sinceMs: Number.POSITIVE_INFINITY, isRetired: false },
    };
    try {
      const config = consumerConfig(inbox, { startSeq: last?.seq ?? (start && start.seq + 1), subjects });
      const added = manager.consumers.add(this.#stream, config);
      const info = await context.untilDisconnect(added);
      consumer.name = info.name;
      if (subjects && info.config.filter_subjects?.length !== subjects.size) throw new RefusedError();
      if (start && info.num_pending > MAX_MISSED_MESSAGES) {
        this.replace();
        throw new Error(`The consumer has missed ${info.num_pending} messages.`); // the next attempt starts at the end
      }
      if (history !== this.#history) throw new Error("Messages are missing after which the consumer would continue.");
      if (Number.isNaN(consumer.consumerSequence)) throw new Error("A delivery of the consumer is missing.");
      if (this.#isClosed) throw new Error("The consumer is closed.");
      this.#activate(consumer, info.delivered.stream_seq);
    } catch (error) {
      retire(consumer);
      this.#deleteConsumer(consumer);
      if (this.#filters && isRefusal(error)) this.#filters.onRefused();
      throw error;
    }
  }

  /** @param seq the sequence after which the consumer starts */
  #activate(consumer: ActiveConsumer, seq: number): void {
    const { epoch, isContinuation } = consumer;
    const previous = this.#active;
    if (previous) {
      retire(previous);
      this.#deleteConsumer(previous);
    }
    consumer.lastActivityMs = performance.now();
    consumer.sinceMs = previous?.sinceMs ?? consumer.lastActivityMs;
    this.#active = consumer;
    this.#heartbeatTimer ??= setInterval(() => this.#checkHeartbeat(), HEARTBEAT_MS).unref();
    if (isContinuation) return;
    // What was delivered before it is active is read after onResumed.
    const endSeq = Math.max(seq, consumer.streamSequence);
    this.#last = undefined;
    this.#start = this.#filters ? { epoch, seq: endSeq } : undefined;
    this.#held?.start(epoch, endSeq);
    this.#handlers.onEnd(epoch, endSeq);
    this.#handlers.onResumed();
  }

  /** Returns the subjects of the next consumer. It delivers the last delivery again, also if nobody needs its subject now. */
  #subjectsAfter(last: LastDelivery | undefined): ReadonlySet<string> | null {
    if (!this.#filters) return null;
    return new Set([this.#filters.barrierSubject, ...this.#subjects, ...(last ? [last.subject] : [])]);
  }

  #receive(consumer: ActiveConsumer, message: Msg): void {
    if (consumer.isRetired || consumer.history !== this.#history) return;
    consumer.lastActivityMs = performance.now();
    const delivery = parseDelivery(message.reply);
    // The headers of a stored message are its publisher's, also if they look like those of a control message.
    const isInOrder = delivery
      ? isNextDelivery(delivery, consumer)
      : receiveControlMessage(message, consumer.context.connection, consumer.consumerSequence);
    if (!isInOrder) this.#discard(consumer);
    if (!isInOrder || !delivery) return;
    const { consumerSequence, streamSequence: seq, storedAtMs } = delivery;
    consumer.consumerSequence = consumerSequence;
    consumer.streamSequence = seq;
    const id = readMessageId(() => message.headers);
    if (consumer.first && consumerSequence === 1) {
      // It starts with the last delivery again. On a server whose copy differs, another message has this sequence.
      if (consumer.first.seq === seq && consumer.first.id === id) return;
      this.#discard(consumer);
      this.replace(); // the next consumer starts at the end
      return;
    }
    // Messages before those of a new consumer may be missing. Its first ones are read with them, after onResumed.
    if ((this.#active !== consumer && !consumer.isContinuation) || this.#isClosed) return;
    if (seq <= this.lastSeq) return; // the consumer that this one replaces has delivered it
    const { subject } = message;
    const { epoch } = consumer;
    this.#last = { epoch, subject, seq, id };
    const delivered = { subject, seq, id, data: message.string(), epoch };
    if (!this.#held) {
      this.#handlers.onMessage(delivered);
      return;
    }
    // What a new consumer delivers first may be old, and so may the messages of a subject that was added.
    const mustBeOnTime = subject === this.#filters?.barrierSubject && performance.now() - consumer.sinceMs > MAX_LAG_MS;
    this.#held.add(mustBeOnTime ? { ...delivered, dueAtMs: storedAtMs + MAX_LAG_MS } : delivered);
  }

  #checkHeartbeat(): void {
    if (this.#active && performance.now() - this.#active.lastActivityMs > HEARTBEAT_TIMEOUT_MS) this.restart();
  }

  #discard(consumer: ActiveConsumer): void {
    if (this.#active === consumer) this.restart();
    else consumer.consumerSequence = Number.NaN; // not active yet: its first heartbeat discards it
  }

  /** Makes the next consumer start at the end of the stream. */
  #forget(): void {
    this.#history = {};
    this.#last = undefined;
    this.#start = undefined;
    this.#held?.clear();
  }

  /** Deletes a consumer on the server. If that fails, the server deletes it because it has no subscriber. */
  #deleteConsumer({ context, name }: ActiveConsumer): void {
    if (name !== undefined) context.manager.consumers.delete(this.#stream, name).catch(() => undefined);
  }
}

/** The server has created a consumer of all subjects: one before NATS 2.10 does not know `filter_subjects`. */
class RefusedError extends Error {}

/** Returns whether an error means that the server does not filter. */
function isRefusal(error: unknown): boolean {
  if (error instanceof RefusedError) return true;
  return error instanceof Error && error.name === "JetStreamApiError" && "status" in error && error.status === 400;
}
