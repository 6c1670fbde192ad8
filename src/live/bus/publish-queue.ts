import type { Position } from "./bus.ts";
import { errorMessage } from "./error-message.ts";
import type { IsTransient } from "./retry-policy.ts";
import { RetryQueue } from "./retry-queue.ts";

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
   * @returns the positions of its messages
   */
  readonly send: (batch: PublishBatch) => Promise<readonly Position[]>;
  /** Returns whether the batch should be sent again after this error. */
  readonly isTransient: IsTransient;
  /** The maximum number of messages in a batch. */
  readonly maxBatchMessages: number;
  /** How long `publish` waits for the bus, in milliseconds. */
  readonly timeoutMs: number;
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
 * unreachable, messages wait for a limited time and up to a limited size; then `publish` rejects.
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
      const message: PendingMessage = {
        ...{ data, size, isSettled: false },
        timer: setTimeout(() => this.#fail(message, this.#timeoutError()), this.#options.timeoutMs),
        resolve: (position) => this.#settle(message, () => resolve(position)),
        reject: (error) => this.#settle(message, () => reject(error)),
      };
      this.#pendingBytes += size;
      this.#pending.add(message);
      const queue = this.#channels.get(channel);
      if (queue) {
        queue.waiting.push(message);
        return;
      }
      const created: ChannelQueue = { waiting: [message] };
      this.#channels.set(channel, created);
      void this.#drain(channel, created);
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
    const { send, maxBatchMessages } = this.#options;
    for (let messages = takeBatch(queue, maxBatchMessages); messages.length > 0; ) {
      const batch = { channel, number: ++this.#lastBatchNumber, data: messages.map(({ data }) => data) };
      // Always the complete batch: once it was sent, it is unknown which of its messages the bus has stored.
      while (messages.some(({ isSettled }) => !isSettled)) {
        try {
          const positions = await send(batch);
          this.#lastError = undefined;
          this.#retries.record(true);
          for (const [index, message] of messages.entries()) resolveWith(message, positions[index]);
        } catch (error) {
          await this.#handleFailure(messages, error);
        }
      }
      messages = takeBatch(queue, maxBatchMessages);
    }
    this.#channels.delete(channel);
  }

  /** Waits until a batch is to be sent again, or rejects its messages if the bus has refused it. */
  async #handleFailure(messages: readonly PendingMessage[], error: unknown): Promise<void> {
    const isTransient = this.#options.isTransient(error);
    this.#lastError = error;
    this.#retries.record(!isTransient);
    if (!isTransient) {
      for (const message of messages) this.#fail(message, error);
      return;
    }
    const isCancelled = () => messages.every(({ isSettled }) => isSettled);
    await new Promise<void>((resume) => this.#retries.add({ run: resume, isCancelled }));
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
    this.#pendingBytes -= message.size;
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
    batch.push(message);
    size += message.size;
  }
  waiting.splice(0, removed);
  return batch;
}

function resolveWith(message: PendingMessage, position: Position | undefined): void {
  if (position === undefined) message.reject(new Error("The bus returned no position for a message."));
  else message.resolve(position);
}
