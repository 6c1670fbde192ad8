/**
 * The registry of a bus: which listeners of this process watch which channel.
 *
 * A notification contains the new messages only if no message is missing between them and those of the
 * previous notification. Otherwise the listeners have to read from the bus. The read positions of listeners
 * are not stored here: the hub of `src/live` checks for each subscription whether a notification continues
 * at its position, and reads from the bus otherwise. This class batches the messages of one microtask, so
 * that listeners run once for them; the hub batches the reads of its subscriptions.
 */
import type { ChannelListener, Message, Position } from "./bus.ts";

/** A message that the bus has received. */
export interface ReceivedMessage {
  /** The position directly before the message. If undefined, that of the message received before it. */
  readonly after?: Position;
  readonly message: Message;
}

/** The listeners of one channel, and the messages of their next notification. */
interface ChannelState {
  readonly listeners: Set<ChannelListener>;
  /** The position of the last received message; undefined if messages may have been missed since. */
  lastPosition: Position | undefined;
  /** The messages of the next notification; undefined if the listeners have to read from the bus. */
  pending: { after: Position; messages: Message[] } | undefined;
  isScheduled: boolean;
}

/** Notifies the listeners of channels. */
export class ChannelNotifier {
  readonly #channels = new Map<string, ChannelState>();

  /** The channels that have a listener. */
  get channels(): IterableIterator<string> {
    return this.#channels.keys();
  }

  /** Returns whether a channel has a listener. */
  has(channel: string): boolean {
    return this.#channels.has(channel);
  }

  /**
   * Adds a listener to a channel.
   *
   * @returns a function that removes it. Its first call returns true, any later one false.
   */
  add(channel: string, listener: ChannelListener): () => boolean {
    const state = this.#channels.get(channel) ?? {
      listeners: new Set(),
      lastPosition: undefined,
      pending: undefined,
      isScheduled: false,
    };
    this.#channels.set(channel, state);
    // A wrapper for each call of `add`: one function can listen twice, and each is removed by itself.
    const wrapper: ChannelListener = (notification) => listener(notification);
    state.listeners.add(wrapper);
    return () => {
      const wasAdded = state.listeners.delete(wrapper);
      if (state.listeners.size === 0 && this.#channels.get(channel) === state) this.#channels.delete(channel);
      return wasAdded;
    };
  }

  /** Notifies the listeners of a channel of a message, at the end of this microtask. */
  notify(channel: string, { after, message }: ReceivedMessage): void {
    const state = this.#channels.get(channel);
    if (!state) return;
    const from = after ?? state.lastPosition;
    const isContinuous = from !== undefined && (state.lastPosition ?? from) === from;
    state.lastPosition = message.position;
    if (!state.isScheduled) {
      state.pending = isContinuous ? { after: from, messages: [message] } : undefined;
      scheduleNotification(state);
    } else if (isContinuous && state.pending) state.pending.messages.push(message);
    else state.pending = undefined;
  }

  /** Records that messages may have been missed. Listeners have to read at their next notification. */
  invalidate(): void {
    for (const state of this.#channels.values()) {
      state.lastPosition = undefined;
      state.pending = undefined;
    }
  }

  /** Records that messages may have been missed, and notifies all listeners, which then have to read. */
  notifyAll(): void {
    this.invalidate();
    for (const state of this.#channels.values()) if (!state.isScheduled) scheduleNotification(state);
  }

  /** Removes all listeners. */
  clear(): void {
    for (const { listeners } of this.#channels.values()) listeners.clear();
    this.#channels.clear();
  }
}

function scheduleNotification(state: ChannelState): void {
  state.isScheduled = true;
  queueMicrotask(() => {
    const { pending } = state;
    state.isScheduled = false;
    state.pending = undefined;
    for (const listener of state.listeners) listener(pending);
  });
}
