import type { StreamState } from "./stream.ts";

/** A message of the stream, as the server delivered it. */
export interface DeliveredMessage {
  readonly subject: string;
  readonly seq: number;
  /** The `Nats-Msg-Id`, empty if there is none or if the headers are malformed. */
  readonly id: string;
  readonly data: string;
  readonly epoch: string;
  /** By when it has to arrive, by the clock of the server, in milliseconds since the Unix epoch. Absent if it may be late. */
  readonly dueAtMs?: number;
}

/** The callbacks of {@link HeldMessages}. None may throw, except `inspect`, which may reject. */
export interface HeldMessagesHandlers {
  /** Returns the state of the stream at a time after the call. */
  inspect(): Promise<StreamState>;
  /** Called with each message, in order, once it is certain that none before it is missing. */
  onMessage(message: DeliveredMessage): void;
  /** Called when messages may be missing, or arrive too late. Those that are held are dropped. */
  onLost(): void;
}

/** How long after a check messages are passed on without another one, at most. */
const MAX_UNCHECKED_MS = 250;

/** More than any server stores in a millisecond, and more than the bytes of a stored message: 64 KiB, and its headers. */
const MAX_STORED_BYTES_PER_MS = 2 ** 21;
const MAX_STORED_MESSAGES_PER_MS = 5_000;
const MAX_MESSAGE_BYTES = 66_000;

/** How many bytes are held at most. With more, the readers read the bus, which limits what they receive. */
const MAX_HELD_BYTES = 8 * 1024 ** 2;

/** How long to wait after a check that has failed, or whose answer was too old. */
const RETRY_DELAY_MS = 100;

/**
 * The messages that a consumer with filters has delivered, until it is certain that none is missing before them.
 *
 * A consumer without filters delivers every sequence, so that a missing one is noticed. One with filters skips sequences,
 * and if the stream removes messages before the consumer gets to them, it skips those silently. So messages are held until
 * an answer, requested after they had arrived, shows that the stream still has all messages since the last one that was
 * checked. For a moment after that, further messages need no check: nothing could fill the whole stream in that time.
 */
export class HeldMessages {
  readonly #handlers: HeldMessagesHandlers;
  #queue: DeliveredMessage[] = [];
  #queuedBytes = 0;
  /** Everything up to this sequence was delivered. */
  #checkedSeq = 0;
  #epoch = "";
  /** Until when messages are passed on without a check, by `performance.now`. */
  #uncheckedUntilMs = Number.NEGATIVE_INFINITY;
  #isChecking = false;
  /** Changes when what is held was dropped: the answer to an earlier request is not used then. */
  #history = {};

  constructor(handlers: HeldMessagesHandlers) {
    this.#handlers = handlers;
  }

  /** Drops what is held. The messages after a sequence will be added. */
  start(epoch: string, seq: number): void {
    this.clear();
    this.#epoch = epoch;
    this.#checkedSeq = seq;
  }

  /** Drops what is held. */
  clear(): void {
    this.#queue = [];
    this.#queuedBytes = 0;
    this.#uncheckedUntilMs = Number.NEGATIVE_INFINITY;
    this.#history = {};
  }

  /** Adds the next message that matches the filters. */
  add(message: DeliveredMessage): void {
    this.#queue.push(message);
    this.#queuedBytes += message.data.length;
    if (!this.#isChecking && this.#needsNoCheck()) this.#pass(this.#queue.length);
    else if (this.#queuedBytes > MAX_HELD_BYTES) this.#handlers.onLost();
    else void this.#check();
  }

  /** Never rejects. */
  async #check(): Promise<void> {
    if (this.#isChecking) return;
    this.#isChecking = true;
    for (let last = this.#queue.at(-1); last !== undefined; last = this.#queue.at(-1)) {
      const [history, count, requestedAtMs] = [this.#history, this.#queue.length, performance.now()];
      // The connector has logged a failure.
      const state = await this.#handlers.inspect().catch(() => null);
      if (history !== this.#history) continue;
      // A server that was frozen can answer with an earlier state.
      if (!state || (state.epoch === this.#epoch && state.lastSeq < last.seq)) {
        await new Promise((resolve) => setTimeout(resolve, RETRY_DELAY_MS).unref());
        continue;
      }
      const isLate = this.#queue.slice(0, count).some(({ dueAtMs = Number.POSITIVE_INFINITY }) => state.atMs > dueAtMs);
      if (state.epoch !== this.#epoch || state.firstSeq > this.#checkedSeq + 1 || isLate) {
        this.clear();
        this.#handlers.onLost();
        continue;
      }
      this.#checkedSeq = last.seq;
      this.#uncheckedUntilMs = requestedAtMs + uncheckedMs(state, last.seq);
      this.#pass(count);
      if (this.#needsNoCheck()) this.#pass(this.#queue.length);
    }
    this.#isChecking = false;
  }

  /** Returns whether all messages that are held can be passed on without a check. */
  #needsNoCheck(): boolean {
    return performance.now() < this.#uncheckedUntilMs && this.#queue.every(({ dueAtMs }) => dueAtMs === undefined);
  }

  #pass(count: number): void {
    for (const message of this.#queue.splice(0, count)) {
      this.#queuedBytes -= message.data.length;
      this.#handlers.onMessage(message);
    }
  }
}

/** Returns how long it takes at least until a stream can have removed the messages after a sequence. */
function uncheckedMs({ lastSeq, maxBytes, maxMessages }: StreamState, seq: number): number {
  const later = lastSeq - seq;
  const bytesMs = (maxBytes - later * MAX_MESSAGE_BYTES) / MAX_STORED_BYTES_PER_MS;
  const messagesMs = (maxMessages - later) / MAX_STORED_MESSAGES_PER_MS;
  return Math.max(0, Math.min(MAX_UNCHECKED_MS, bytesMs, messagesMs));
}
