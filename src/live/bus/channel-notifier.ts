import type { Message, Position, ChannelListener } from "./bus.ts";

/** A message, and the position from which on it is the first; undefined where that is the one before it. */
export interface ReceivedMessage {
  readonly after?: Position;
  readonly message: Message;
}

/** A channel that is watched. */
interface ChannelState {
  readonly wakes: Set<ChannelListener>;
  /** The last message that was handed on; undefined where others may have come after it. */
  seen: Position | undefined;
  /** What came since they were woken; undefined where they have to read it. */
  fresh: { after: Position; messages: Message[] } | undefined;
  isWaking: boolean;
}

/**
 * Wakes those who watch channels. What comes at one go is collected, and handed on at the end of that;
 * where it does not follow on what was handed on before, they are woken without it.
 */
export class ChannelNotifier {
  readonly #watched = new Map<string, ChannelState>();

  /** The channels that are watched. */
  get channels(): IterableIterator<string> {
    return this.#watched.keys();
  }

  /** Whether anybody watches a channel. */
  has(channel: string): boolean {
    return this.#watched.has(channel);
  }

  /**
   * Begins to wake one more.
   *
   * @returns what ends it; that answers whether it had not been ended before
   */
  add(channel: string, wake: ChannelListener): () => boolean {
    const watched = this.#watched.get(channel) ?? {
      wakes: new Set(),
      seen: undefined,
      fresh: undefined,
      isWaking: false,
    };
    this.#watched.set(channel, watched);
    // The same function may watch twice: each has its own end.
    const own: ChannelListener = (fresh) => wake(fresh);
    watched.wakes.add(own);
    return () => {
      const was = watched.wakes.delete(own);
      if (watched.wakes.size === 0 && this.#watched.get(channel) === watched) this.#watched.delete(channel);
      return was;
    };
  }

  /** Tells those who watch a channel of a message. */
  notify(channel: string, { after, message }: ReceivedMessage): void {
    const watched = this.#watched.get(channel);
    if (!watched) return;
    const from = after ?? watched.seen;
    const follows = from !== undefined && (watched.seen ?? from) === from;
    watched.seen = message.position;
    if (!watched.isWaking) {
      watched.fresh = follows ? { after: from, messages: [message] } : undefined;
      scheduleNotification(watched);
    } else if (follows && watched.fresh) watched.fresh.messages.push(message);
    else watched.fresh = undefined;
  }

  /** What comes next need not follow on what was handed on before. */
  invalidate(): void {
    for (const watched of this.#watched.values()) {
      watched.seen = undefined;
      watched.fresh = undefined;
    }
  }

  /** Tells all that they may have missed something. */
  notifyAll(): void {
    this.invalidate();
    for (const watched of this.#watched.values()) if (!watched.isWaking) scheduleNotification(watched);
  }

  /** Wakes nobody any more. */
  clear(): void {
    for (const { wakes } of this.#watched.values()) wakes.clear();
    this.#watched.clear();
  }
}

function scheduleNotification(watched: ChannelState): void {
  watched.isWaking = true;
  queueMicrotask(() => {
    const { fresh } = watched;
    watched.isWaking = false;
    watched.fresh = undefined;
    for (const wake of watched.wakes) wake(fresh);
  });
}
