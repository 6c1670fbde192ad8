import type { Position } from "./bus.ts";
import { errorMessage, type IsTransient, RetryQueue } from "./retry-policy.ts";

/** Messages of one channel that are sent together. A retry sends the same batch with the same number. */
export interface PublishBatch {
  readonly channel: string;
  /** Greater than the number of every earlier batch of this queue. The bus uses it to detect retries. */
  readonly number: number;
  /** The texts of the messages, in order. */
  readonly data: readonly string[];
}

/** The options of a {@link PublishQueue}. */
export interface PublishQueueOptions {
  /**
   * Sends a batch. It has to be idempotent: a batch that is sent again after a failure is stored once.
   *
   * @param onSent to be called before the batch is passed to the server, which may store it from then on, unless the bus
   *   refuses a batch that arrives after a later one of its queue
   * @returns the positions of its messages
   */
  readonly send: (batch: PublishBatch, onSent: () => void) => Promise<readonly Position[]>;
  /** Returns whether the batch should be sent again after this error. */
  readonly isTransient: IsTransient;
  /** The maximum number of messages in a batch. */
  readonly maxBatchMessages: number;
  /** How long `publish` waits for the bus, in milliseconds. */
  readonly timeoutMs: number;
  /**
   * Returns for how many milliseconds after `onSent` a batch without a response is sent again, also after `publish` has
   * rejected. Later messages of the channel wait meanwhile: a server that was frozen could store the batch after them.
   * Required if `send` calls `onSent`.
   */
  readonly resendMs?: () => number;
  /** Called when that time is over. */
  readonly onUnconfirmed?: (batch: PublishBatch) => void;
}

/** The maximum bytes of messages in a batch, unless one message alone exceeds it. */
const MAX_BATCH_BYTES = 256 * 1024;

/** The memory of a pending message beside its text. */
const MESSAGE_OVERHEAD_BYTES = 256;

/** The maximum bytes of all pending messages of a queue. */
const MAX_PENDING_BYTES = 32 * 1024 * 1024;

interface PendingMessage {
  readonly data: string;
  readonly size: number;
  readonly timer: NodeJS.Timeout;
  isSettled: boolean;
  /** Whether it is in a batch: its text is kept until the batch ends. */
  isInBatch: boolean;
  resolve(position: Position): void;
  reject(error: Error): void;
}

/** The messages of one channel that wait for the batch before them, oldest first. */
interface ChannelQueue {
  readonly waiting: PendingMessage[];
}

/**
 * Sends messages in the order in which they were published to their channel. One batch of a channel is
 * under way at a time, and messages that are published meanwhile go into the next batch. While the bus is
 * unreachable, messages wait for a limited time and up to a limited size; then `publish` rejects. A batch that the server
 * may still store is sent again for longer ({@link PublishQueueOptions.resendMs}).
 */
export class PublishQueue {
  readonly #options: PublishQueueOptions;
  readonly #channels = new Map<string, ChannelQueue>();
  readonly #pending = new Set<PendingMessage>();
  #pendingBytes = 0;
  #lastBatchNumber = 0;
  readonly #retries = new RetryQueue();
  #lastError: unknown;
  #isClosed = false;

  constructor(options: PublishQueueOptions) {
    this.#options = options;
  }

  /**
   * Sends a message. It is the `publish` of the bus.
   *
   * @returns its position
   * @throws Error if the bus did not store it in time, or refused it, or if too many messages are pending
   */
  readonly publish = (channel: string, data: string): Promise<Position> => {
    if (this.#isClosed) return Promise.reject(new Error("The bus is closed."));
    const size = data.length + MESSAGE_OVERHEAD_BYTES;
    if (this.#pendingBytes + size > MAX_PENDING_BYTES) {
      const mib = MAX_PENDING_BYTES / 1024 ** 2;
      return Promise.reject(new Error(`The bus is unreachable or slow: ${mib} MiB of messages are pending already.`));
    }
    return new Promise((resolve, reject) => {
      const existing = this.#channels.get(channel);
      const queue: ChannelQueue = existing ?? { waiting: [] };
      const timeOut = () => {
        this.#fail(message, this.#timeoutError());
        dropSettled(queue);
      };
      const message: PendingMessage = {
        ...{ data, size, isSettled: false, isInBatch: false },
        timer: setTimeout(timeOut, this.#options.timeoutMs),
        resolve: (position) => this.#settle(message, () => resolve(position)),
        reject: (error) => this.#settle(message, () => reject(error)),
      };
      this.#pendingBytes += size;
      this.#pending.add(message);
      queue.waiting.push(message);
      if (existing) return;
      this.#channels.set(channel, queue);
      void this.#drain(channel, queue);
    });
  };

  /** Rejects all pending messages, and all further ones. */
  close(): void {
    this.#isClosed = true;
    const reason = "The bus was closed before it had stored the message; it may or may not be delivered.";
    for (const message of this.#pending) message.reject(new Error(reason));
  }

  /** Sends the messages of a channel, in batches, until none waits. Never rejects. */
  async #drain(channel: string, queue: ChannelQueue): Promise<void> {
    // Messages that are published in this microtask go into the same batch.
    await Promise.resolve();
    const { maxBatchMessages } = this.#options;
    for (let messages = takeBatch(queue, maxBatchMessages); messages.length > 0; ) {
      const batch = { channel, number: ++this.#lastBatchNumber, data: messages.map(({ data }) => data) };
      await this.#sendUntilStored(batch, messages);
      for (const { size } of messages) this.#pendingBytes -= size;
      messages = takeBatch(queue, maxBatchMessages);
    }
    this.#channels.delete(channel);
  }

  /**
   * Sends a batch until the bus has stored or refused it, or until nobody waits for it and it cannot be stored after later
   * ones. Always the complete batch: once it was sent, it is unknown which of its messages the bus has stored.
   */
  async #sendUntilStored(batch: PublishBatch, messages: readonly PendingMessage[]): Promise<void> {
    const { send, isTransient, resendMs = () => 0, onUnconfirmed } = this.#options;
    let sentAtMs: number | undefined;
    /** Whether a response to an earlier attempt is missing. */
    let isUnknown = false;
    const onSent = () => {
      sentAtMs ??= performance.now();
    };
    const isOver = () =>
      this.#isClosed ||
      (messages.every(({ isSettled }) => isSettled) &&
        (sentAtMs === undefined || performance.now() - sentAtMs >= resendMs()));
    while (!isOver()) {
      try {
        const positions = await send(batch, onSent);
        this.#lastError = undefined;
        this.#retries.record(true);
        for (const [index, message] of messages.entries()) resolveWith(message, positions[index]);
        return;
      } catch (error) {
        const mayBeStored = isTransient(error);
        this.#lastError = error;
        this.#retries.record(!mayBeStored);
        if (!mayBeStored) for (const message of messages) this.#fail(message, error);
        isUnknown ||= mayBeStored && sentAtMs !== undefined;
        // A refusal says nothing about an earlier attempt, which a server that was frozen may still store.
        if (!mayBeStored && !isUnknown) return;
        await new Promise<void>((resume) => this.#retries.add({ run: resume, isCancelled: isOver }));
      }
    }
    if (sentAtMs !== undefined && !this.#isClosed) onUnconfirmed?.(batch);
  }

  #timeoutError(): Error {
    const seconds = this.#options.timeoutMs / 1000;
    const reason = this.#lastError === undefined ? "" : ` ${errorMessage(this.#lastError)}`;
    return new Error(
      `The bus did not store the message within ${seconds} s; it may or may not be delivered.${reason}`,
      { cause: this.#lastError },
    );
  }

  #fail(message: PendingMessage, error: unknown): void {
    message.reject(error instanceof Error ? error : new Error(String(error)));
  }

  #settle(message: PendingMessage, action: () => void): void {
    if (message.isSettled) return;
    message.isSettled = true;
    clearTimeout(message.timer);
    this.#pending.delete(message);
    if (!message.isInBatch) this.#pendingBytes -= message.size;
    action();
  }
}

/** Removes the next batch from a queue. Messages that have timed out are removed and not returned. */
function takeBatch({ waiting }: ChannelQueue, maxMessages: number): PendingMessage[] {
  let removed = 0;
  let size = 0;
  const batch: PendingMessage[] = [];
  for (const message of waiting) {
    if (batch.length === maxMessages || (batch.length > 0 && size + message.size > MAX_BATCH_BYTES)) break;
    removed++;
    if (message.isSettled) continue;
    message.isInBatch = true;
    batch.push(message);
    size += message.size;
  }
  waiting.splice(0, removed);
  return batch;
}

/** Removes the messages at the start of a queue that have timed out, so that they need no memory while a batch is under way. */
function dropSettled({ waiting }: ChannelQueue): void {
  while (waiting[0]?.isSettled) waiting.shift();
}

function resolveWith(message: PendingMessage, position: Position | undefined): void {
  if (position === undefined) message.reject(new Error("The bus returned no position for a message."));
  else message.resolve(position);
}
