import type { NatsConnection } from "@nats-io/transport-node";
import { type ConsumerFilters, type ConsumerHandlers, MAX_LAG_MS, NatsConsumer } from "./consumer.ts";
import type { DeliveredMessage } from "./held-messages.ts";

/**
 * The first version whose consumers filter several subjects without losing messages. Before, the server looked for the next
 * message of one subject after the other. A message that was stored meanwhile was skipped if another subject had a later one.
 *
 * @see https://github.com/nats-io/nats-server/commit/63c743db0
 */
const MIN_FILTER_VERSION = [2, 10, 14] as const;

/**
 * How many subjects one consumer receives at most. The server compares each filter with each other one: 100 take 2 ms,
 * 1,000 take 100 ms to 500 ms, 5,000 take 6 s (2.10.25 and 2.15.1).
 */
const MAX_SUBJECTS = 200;

/** How old the last barrier is at most before this process publishes one, and for how much longer it may wait for others. */
const BARRIER_INTERVAL_MS = 10_000;
const BARRIER_JITTER_MS = 3_000;

const TICK_MS = 1_000;

/** The callbacks of {@link NatsConsumers}. None may throw, except those that return promises, which may reject. */
export interface ConsumersHandlers
  extends Pick<ConsumerHandlers, "context" | "onStopped" | "onEnd" | "onMessage" | "onUnexpected">,
    Pick<ConsumerFilters, "barrierSubject" | "inspect"> {
  /** Publishes a barrier, and returns its sequence. */
  publishBarrier(): Promise<number>;
  /** Returns whether a subject has listeners. */
  isNeeded(subject: string): boolean;
  /** Called when all messages of some subjects, or of all, that are published from now on are delivered. Earlier ones may have been missed. */
  onResumed(subjects?: Iterable<string>): void;
  /** Called with a message after all messages of some subjects, or of all, that are before it. */
  onProgress(message: DeliveredMessage, subjects?: Iterable<string>): void;
  /** Called once if the server refuses filters that its version supports. */
  onRefused(): void;
}

/**
 * Receives the messages of the subjects that have listeners, by consumers with filters, each of up to 200 subjects. Every
 * message in the stream after which nothing else was delivered, a barrier, shows that nothing is missing before it, so that
 * the positions of quiet channels advance. The processes of an application publish one every 10 seconds together: the first
 * that misses it.
 *
 * If the server does not filter, one consumer receives the messages of all subjects.
 */
export class NatsConsumers {
  readonly #stream: string;
  readonly #handlers: ConsumersHandlers;
  readonly #consumers = new Set<NatsConsumer>();
  readonly #bySubject = new Map<string, NatsConsumer>();
  /** The consumer of all subjects, if the server does not filter. */
  #unfiltered: NatsConsumer | undefined;
  /** The last message of that consumer that was not reported as progress. */
  #unreported: DeliveredMessage | undefined;
  /** The last barrier that is known: its sequence, and since when. Every consumer has to deliver it in time. */
  #barrier: { readonly seq: number; readonly atMs: number } | undefined;
  /** When this process publishes the next barrier, by `performance.now`, unless it receives one before. */
  #nextBarrierAtMs = Number.POSITIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  constructor(stream: string, handlers: ConsumersHandlers) {
    this.#stream = stream;
    this.#handlers = handlers;
  }

  /**
   * Receives the messages of a subject, until it is not needed any more. When it resolves, every message published to it
   * from then on is delivered.
   *
   * @throws Error if the server is unreachable
   */
  async cover(subject: string): Promise<void> {
    if (!this.#unfiltered) {
      const { connection } = await this.#handlers.context();
      if (!supportsFilters(connection.info)) this.#receiveAll();
    }
    this.#startTimer();
    if (!this.#unfiltered) {
      const consumer = this.#bySubject.get(subject) ?? this.#consumerWithRoom();
      this.#bySubject.set(subject, consumer);
      try {
        return await consumer.cover(subject);
      } catch (error) {
        if (!this.#unfiltered) throw error;
      }
    }
    await this.#unfiltered?.start();
  }

  /** Replaces the consumers: they may have missed messages. */
  restart(): void {
    for (const consumer of this.#all) consumer.restart();
  }

  /** Stops receiving messages. */
  close(): void {
    clearInterval(this.#timer);
    for (const consumer of this.#all) consumer.close();
    this.#consumers.clear();
    this.#bySubject.clear();
  }

  get #all(): readonly NatsConsumer[] {
    return this.#unfiltered ? [this.#unfiltered] : [...this.#consumers];
  }

  #consumerWithRoom(): NatsConsumer {
    for (const consumer of this.#consumers) if (consumer.subjects.size < MAX_SUBJECTS) return consumer;
    const { context, onStopped, onEnd, onMessage, onUnexpected, barrierSubject, inspect } = this.#handlers;
    const covered = () => [...consumer.subjects].filter((subject) => consumer.isCovered(subject));
    const consumer = new NatsConsumer(
      this.#stream,
      {
        ...{ context, onStopped, onEnd, onUnexpected },
        onResumed: () => this.#handlers.onResumed([...consumer.subjects]),
        onMessage: (message) => {
          onMessage(message);
          if (message.subject !== barrierSubject) return;
          this.#recordBarrier(message.seq);
          this.#handlers.onProgress(message, covered());
        },
      },
      { barrierSubject, inspect, onRefused: () => this.#refuse() },
    );
    this.#consumers.add(consumer);
    return consumer;
  }

  #refuse(): void {
    if (this.#unfiltered) return;
    this.#handlers.onRefused();
    // It starts at the end: the listeners of all subjects read.
    void this.#receiveAll().startUntilActive();
  }

  /** Receives the messages of all subjects from now on. */
  #receiveAll(): NatsConsumer {
    for (const consumer of this.#consumers) consumer.close();
    this.#consumers.clear();
    this.#bySubject.clear();
    const { context, onStopped, onEnd, onMessage, onUnexpected, onResumed } = this.#handlers;
    this.#unfiltered ??= new NatsConsumer(this.#stream, {
      ...{ context, onStopped, onEnd, onUnexpected, onResumed },
      onMessage: (message) => {
        onMessage(message);
        this.#unreported = message;
      },
    });
    return this.#unfiltered;
  }

  #startTimer(): void {
    if (this.#timer) return;
    this.#scheduleBarrier(performance.now());
    this.#timer = setInterval(() => this.#tick(), TICK_MS).unref();
  }

  #tick(): void {
    const nowMs = performance.now();
    if (this.#unfiltered) {
      if (nowMs >= this.#nextBarrierAtMs) this.#reportProgress(nowMs);
      return;
    }
    this.#replaceLate(nowMs);
    if (nowMs < this.#nextBarrierAtMs) return;
    this.#scheduleBarrier(nowMs);
    for (const consumer of this.#consumers) this.#removeUnneeded(consumer);
    // A failure is logged by the connector. The next barrier is due soon.
    if (this.#consumers.size > 0)
      this.#handlers.publishBarrier().then(
        (seq) => this.#recordBarrier(seq),
        () => undefined,
      );
  }

  #scheduleBarrier(nowMs: number): void {
    this.#nextBarrierAtMs = nowMs + BARRIER_INTERVAL_MS + Math.random() * BARRIER_JITTER_MS;
  }

  #recordBarrier(seq: number): void {
    const atMs = performance.now();
    if (seq <= (this.#barrier?.seq ?? 0)) return;
    this.#barrier = { seq, atMs };
    this.#scheduleBarrier(atMs);
  }

  /** Replaces the consumers that have not delivered the last barrier in time. */
  #replaceLate(nowMs: number): void {
    const { seq, atMs } = this.#barrier ?? { seq: 0, atMs: nowMs };
    if (nowMs - atMs <= MAX_LAG_MS) return;
    for (const consumer of this.#consumers) {
      if (consumer.activeSinceMs <= atMs && consumer.lastSeq < seq) consumer.replace();
    }
  }

  /** Removes the subjects without listeners: seconds later, because a page that is loaded again needs the same ones. */
  #removeUnneeded(consumer: NatsConsumer): void {
    for (const subject of consumer.removeUnless(this.#handlers.isNeeded)) this.#bySubject.delete(subject);
    if (consumer.subjects.size > 0) return;
    consumer.close();
    this.#consumers.delete(consumer);
  }

  /** The consumer of all subjects delivers every message of the stream: nothing is missing before the last one. */
  #reportProgress(nowMs: number): void {
    this.#scheduleBarrier(nowMs);
    const message = this.#unreported;
    this.#unreported = undefined;
    if (message) this.#handlers.onProgress(message);
  }
}

/** Returns whether a server filters several subjects without losing messages. */
export function supportsFilters(info: NatsConnection["info"]): boolean {
  const version =
    /^(\d+)\.(\d+)\.(\d+)/
      .exec(info?.version ?? "")
      ?.slice(1)
      .map(Number) ?? [];
  for (const [at, least] of MIN_FILTER_VERSION.entries()) {
    const number = version[at] ?? 0;
    if (number !== least) return number > least;
  }
  return true;
}
