import type { Position } from "./bus.ts";
import { type IsTransient, errorMessage, RetryQueue } from "./retry-policy.ts";

/** Messages of one channel that are sent together. What it holds never changes, however often it is sent. */
export interface PublishBatch {
  readonly channel: string;
  /** Greater than that of every parcel before. */
  readonly number: number;
  /** The messages, in their order. */
  readonly data: readonly string[];
}

/** How an {@link PublishQueue} sends. */
export interface PublishQueueOptions {
  /**
   * Sends a parcel; sent again after a failure, it is to be taken once.
   *
   * @returns the positions of its messages
   */
  send(parcel: PublishBatch): Promise<readonly Position[]>;
  /** Answers whether an error passes, so that the parcel is sent again. */
  readonly isPassing: IsTransient;
  /** How many messages a parcel holds at most. */
  readonly perParcel: number;
  /** How long a message may take, in milliseconds. */
  readonly waitMs: number;
}

/** How many bytes of messages a parcel holds at most, unless one alone has more. */
const PARCEL_BYTES = 256 * 1024;

/** What it takes to hold a message that waits, beside its text. */
const LETTER_BYTES = 256;

/** How many bytes of messages may wait in a process. */
const WAITING_BYTES = 32 * 1024 * 1024;

interface PendingMessage {
  readonly data: string;
  readonly size: number;
  readonly timer: NodeJS.Timeout;
  isOver: boolean;
  resolve(position: Position): void;
  reject(error: Error): void;
}

/** What waits for one channel, oldest first. */
interface ChannelQueue {
  readonly waiting: PendingMessage[];
}

/**
 * Sends messages in the order in which they were published to their channel: one parcel of a channel
 * is under way at a time, and what is published meanwhile goes into the next. While the bus is away
 * they wait, for a time and up to a size; then they fail.
 */
export class PublishQueue {
  readonly #options: PublishQueueOptions;
  readonly #lanes = new Map<string, ChannelQueue>();
  readonly #letters = new Set<PendingMessage>();
  #bytes = 0;
  #number = 0;
  readonly #turns = new RetryQueue();
  #lastError: unknown;
  #isClosed = false;

  constructor(options: PublishQueueOptions) {
    this.#options = options;
  }

  /**
   * Sends a message.
   *
   * @returns its position
   * @throws Error when the bus did not take it in time, or refused it, or too much waits
   */
  publish(channel: string, data: string): Promise<Position> {
    if (this.#isClosed) return Promise.reject(new Error("The bus is closed."));
    const size = data.length + LETTER_BYTES;
    if (this.#bytes + size > WAITING_BYTES) {
      return Promise.reject(new Error("The bus is away or slow, and too many messages wait for it already."));
    }
    return new Promise((resolve, reject) => {
      const letter: PendingMessage = {
        ...{ data, size, isOver: false },
        timer: setTimeout(() => this.#fail(letter, this.#late()), this.#options.waitMs),
        resolve: (position) => this.#settle(letter, () => resolve(position)),
        reject: (error) => this.#settle(letter, () => reject(error)),
      };
      this.#bytes += size;
      this.#letters.add(letter);
      const lane = this.#lanes.get(channel);
      if (lane) {
        lane.waiting.push(letter);
        return;
      }
      const opened: ChannelQueue = { waiting: [letter] };
      this.#lanes.set(channel, opened);
      void this.#run(channel, opened);
    });
  }

  /** Rejects all that waits, and takes no more. */
  close(): void {
    this.#isClosed = true;
    for (const letter of this.#letters) letter.reject(new Error("The bus was closed before it had the message."));
  }

  /** Sends what waits for a channel until nothing does. Never rejects. */
  async #run(channel: string, lane: ChannelQueue): Promise<void> {
    // What is published in the same moment goes along.
    await Promise.resolve();
    for (let letters = takeParcel(lane, this.#options.perParcel); letters.length > 0; ) {
      await this.#deliver({ channel, number: ++this.#number, data: letters.map(({ data }) => data) }, letters);
      letters = takeParcel(lane, this.#options.perParcel);
    }
    this.#lanes.delete(channel);
  }

  async #deliver(parcel: PublishBatch, letters: readonly PendingMessage[]): Promise<void> {
    // It goes whole or not at all: of a parcel that was sent once, nobody knows what the bus has.
    while (letters.some(({ isOver }) => !isOver)) {
      try {
        const positions = await this.#options.send(parcel);
        this.#lastError = undefined;
        this.#turns.note(true);
        for (const [at, letter] of letters.entries()) resolveWith(letter, positions[at]);
        return;
      } catch (error) {
        const passes = this.#options.isPassing(error);
        this.#lastError = error;
        this.#turns.note(!passes);
        if (!passes) {
          for (const letter of letters) this.#fail(letter, error);
          return;
        }
        await new Promise<void>((go) => this.#turns.wait({ go, isOver: () => letters.every(({ isOver }) => isOver) }));
      }
    }
  }

  #late(): Error {
    const seconds = this.#options.waitMs / 1000;
    const reason = this.#lastError === undefined ? "" : ` ${errorMessage(this.#lastError)}`;
    return new Error(
      `The bus did not take the message within ${seconds} s; whether it will arrive is not known.${reason}`,
      { cause: this.#lastError },
    );
  }

  #fail(letter: PendingMessage, error: unknown): void {
    letter.reject(error instanceof Error ? error : new Error(String(error)));
  }

  #settle(letter: PendingMessage, settle: () => void): void {
    if (letter.isOver) return;
    letter.isOver = true;
    clearTimeout(letter.timer);
    this.#letters.delete(letter);
    this.#bytes -= letter.size;
    settle();
  }
}

/** Takes the next letters off a lane: none that is over. */
function takeParcel({ waiting }: ChannelQueue, most: number): PendingMessage[] {
  let count = 0;
  let size = 0;
  const letters: PendingMessage[] = [];
  for (const letter of waiting) {
    if (letters.length === most || (letters.length > 0 && size + letter.size > PARCEL_BYTES)) break;
    count++;
    if (letter.isOver) continue;
    letters.push(letter);
    size += letter.size;
  }
  waiting.splice(0, count);
  return letters;
}

function resolveWith(letter: PendingMessage, position: Position | undefined): void {
  if (position === undefined) letter.reject(new Error("The bus gave no position for a message."));
  else letter.resolve(position);
}
