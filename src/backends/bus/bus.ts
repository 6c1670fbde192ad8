/**
 * The contract of a bus. A bus stores the messages of channels and distributes them to the processes of an
 * application. `tests/conformance/bus.ts` is the suite that every implementation passes.
 *
 * @see docs/protocol.md 10.11
 */
import type { ConfigProblem } from "../../config/index.ts";
import type { RevocationStore } from "../../revocation/index.ts";

/**
 * A point in a channel's history: a string that matches {@link POSITION_PATTERN}. Of two positions
 * of one channel the longer one is later; of two with the same length, the greater one in byte order (`<`).
 *
 * @see docs/protocol.md 10.3
 */
export type Position = string;

/** The format of every position. A position from a client is checked against it before a bus receives it. */
export const POSITION_PATTERN = /^[0-9A-Za-z.-]{1,40}$/;

/** A stored message. */
export interface Message {
  readonly position: Position;
  /** The JSON text, unchanged as it was published. */
  readonly data: string;
}

/** The result of {@link Bus.read}: a part of a channel's history, or a gap. */
export interface ReadResult {
  /** The messages after the requested position, oldest first. Empty if there is a gap. */
  readonly messages: readonly Message[];
  /**
   * `true` if the bus cannot guarantee that no message after the requested position was lost. A bus may
   * report a gap although nothing was lost. It never omits a gap if a message was lost.
   */
  readonly gap: boolean;
  /**
   * Only with a gap: the position does not belong to the current history of the bus, which was emptied,
   * restored to an earlier state, or started again without its data. Absent if the messages after the
   * position are no longer stored, and also if the bus cannot distinguish the two cases.
   *
   * @see docs/protocol.md 10.7
   */
  readonly reset?: true;
  /** The position from which to read next. With a gap, the end of the current history. */
  readonly end: Position;
  /** Whether there are stored messages after `end`. */
  readonly more: boolean;
}

/** How much one {@link Bus.read} returns at most. */
export interface ReadLimit {
  /** The maximum number of messages, from 1. */
  readonly messages: number;
  /** The maximum bytes of their texts, in UTF-8, from 1. A first message that alone exceeds it is returned. */
  readonly bytes: number;
}

/** A message that is passed to a listener when it arrives. */
export interface Entry extends Message {
  /**
   * A position after which this is the first message of the channel. A bus omits it if it passes every message in order:
   * all that were published since `watch` has resolved, or since the listener was last called without an entry.
   */
  readonly after?: Position;
}

/**
 * Tells a listener that it has been passed every message of the channel up to a position: all that were published since
 * `watch` has resolved, or since it was last called without an entry. On a bus whose channels share one history, a quiet
 * channel would otherwise fall behind what is stored.
 */
export interface Progress {
  /** A position from which the bus can read. */
  readonly position: Position;
  readonly data?: undefined;
}

/**
 * Called with each new message of a channel, and with the progress of a channel without messages if the bus knows it. Without an
 * entry, messages may have been missed: the listener has to read from the bus. A listener must not throw.
 */
export type EntryListener = (entry?: Entry | Progress) => void;

/**
 * Stores and distributes the messages of channels.
 *
 * Every bus guarantees:
 * - The messages of a channel have one order, which is the same for every reader.
 * - A read is complete, or reports a gap.
 * - A position that was returned stays usable while the messages after it are stored.
 *
 * `publish`, `position`, `read`, `readOldest` and `watch` reject if the bus is closed. In an implementation with a
 * server, all of them but `publish` retry for up to 2 s and `publish` for up to 10 s while the server
 * is unreachable.
 */
export interface Bus {
  /**
   * Appends a message to a channel. Messages that one process publishes to one channel keep their order,
   * whether or not it awaits each call.
   *
   * @param channel any string; names need no escaping
   * @param data JSON text, which is stored unchanged
   * @returns the position of the message, after the bus has stored it
   * @throws Error if the bus has not confirmed the message in time. It may still be delivered, at most once.
   */
  publish(channel: string, data: string): Promise<Position>;
  /**
   * Returns the current end of each channel's history, in the order of `channels`.
   *
   * @throws Error if the bus did not respond in time
   */
  position(channels: readonly string[]): Promise<Position[]>;
  /**
   * Reads the messages after a position. Returns at once if there are none; it never waits for new ones.
   *
   * @param after any string in the format of a position; one that is not from this bus results in a gap
   * @param limit how much is returned at most, which bounds the memory of a read. A bus may return less and set `more`.
   * @throws Error if the bus did not respond in time
   */
  read(channel: string, after: Position, limit: ReadLimit): Promise<ReadResult>;
  /**
   * Optional, for `channel(name, { from: "start" })` and `listen(name, { from: "start" })`, which throw without it. Reads a
   * channel from its oldest stored message: as {@link read} after a position before it, without a gap. All messages between
   * the first one of the result and its `end` are in the result, also while the bus removes messages.
   *
   * @throws Error if the bus did not respond in time
   */
  readOldest?(channel: string, limit: ReadLimit): Promise<ReadResult>;
  /**
   * Calls `listener` with every message that is published to a channel, in order, or without an entry when messages may
   * have been missed, for example after a lost connection. The bus stores no state of its listeners: a listener decides
   * whether an entry continues at the position up to which it has read the channel, or whether it has to read. The entry
   * does if its position is later, and if `after` is not; nor may `after` be earlier than the last message of the listener:
   * then that message belongs to another history.
   *
   * Every message whose `publish` starts after `watch` has resolved is covered.
   *
   * @returns a function that stops the calls; calling it again has no effect
   * @throws Error if the bus did not respond in time
   */
  watch(channel: string, listener: EntryListener): Promise<() => void>;
  /**
   * Optional, for a bus that several applications can reach. Called before the first operation with fingerprints of the
   * application's secrets, current one first, from which a secret cannot be computed. The bus stores them in its
   * namespace. If other fingerprints are stored there, but none of these, every operation rejects with a `ConfigError`.
   * May be called again, by further applications of the process.
   */
  identify?(fingerprints: readonly string[]): void;
  /**
   * Optional. Returns the settings of the server that a bus in production should not have, for
   * `tsweb check --production`.
   *
   * @throws Error if the server did not respond in time
   */
  check?(): Promise<readonly ConfigProblem[]>;
  /**
   * Optional. Whether the server is reachable, as far as this process knows, for `/readyz` and metrics. It must not wait for
   * anything.
   */
  readonly isReachable?: boolean;
  /**
   * Optional. Returns the fingerprints that {@link identify} has stored, for `tsweb check --production`. Writes nothing.
   *
   * @throws Error if the server did not respond in time
   */
  storedFingerprints?(): Promise<readonly string[]>;
  /** Optional. Where `session.revoke` stores revocations. Without it, they are stored in `WEB_DATA_DIR`. */
  readonly revocations?: RevocationStore;
  /** Optional. Where `presence` stores who has a page open. Without it, `presence` throws. */
  readonly presence?: PresenceStore;
  /** Optional. Where the outcomes of idempotent functions are kept. Without it, calls of these with a key throw. */
  readonly outcomes?: OutcomeStore;
  /** Closes connections and timers. Pending operations reject. Calling it again has no effect. */
  close(): Promise<void>;
}

/** How long a bus stores messages by default, in hours: half an hour longer than a feed is valid at most. */
export const DEFAULT_HOURS = 24.5;

/**
 * Returns the index after the last message that one read from `start` on may return: as many as the limit allows, but at
 * least one, unless there is none.
 *
 * @param dataOf returns the text of a message
 */
export function endOfRead<T>(
  messages: readonly T[],
  start: number,
  { limit, dataOf }: { readonly limit: ReadLimit; readonly dataOf: (message: T) => string },
): number {
  let end = start;
  for (let remaining = limit.bytes; end < messages.length && end - start < limit.messages; end++) {
    const message = messages[end];
    if (message !== undefined) remaining -= Buffer.byteLength(dataOf(message));
    if (remaining < 0 && end > start) break;
  }
  return end;
}

/** A page load that is present in a channel. */
export interface PresenceMember {
  /** Identifies the page load: 22 characters of base64url. */
  readonly id: string;
  /** Identifies who holds the connection of the page load: one object of one process. */
  readonly holder: string;
  /** JSON text, unchanged as it was stored. */
  readonly value: string;
  /** What the client has set of itself; `null` if nothing. */
  readonly state: PresenceState | null;
}

/** The state of a member. */
export interface PresenceState {
  /** JSON text, unchanged as it was stored. */
  readonly json: string;
  /** Of two states in one channel, the one with the greater number was set later. */
  readonly order: number;
}

/** A member that is stored. */
export interface PresenceEntry {
  readonly id: string;
  readonly holder: string;
  readonly value: string;
  /** JSON text. Absent: a state that is stored for the id is kept. */
  readonly state?: string | undefined;
}

/**
 * Called when the members of a channel may have changed. With an id, that member has been removed by
 * {@link PresenceStore.remove} without a holder. A listener must not throw.
 */
export type PresenceListener = (removedId?: string) => void;

/**
 * Stores who is present in channels: state that expires, and no history. A member counts as long as the lease of its holder
 * lasts, so that a process that ends or is frozen need not remove anything. Leases are measured with the clock of the bus.
 *
 * Every method rejects if the bus is closed. In an implementation with a server, each retries for up to 2 s while the server is
 * unreachable.
 *
 * @see docs/protocol.md 10.12
 */
export interface PresenceStore {
  /**
   * Calls `listener` when the members of a channel may have changed, until the returned function is called. Calls can be
   * missed after a lost connection: read the members again from time to time.
   *
   * The holder gets a lease. While a channel is watched, the other methods may be used for it.
   */
  watch(channel: string, options: PresenceWatch): Promise<() => void>;
  /** Extends the lease of a holder from now on: its members count for `leaseMs` from now, also if the lease had ended. */
  renew(channel: string, holder: string, leaseMs: number): Promise<void>;
  /**
   * Returns whether nobody has been in a channel of late, so that its members need not be read. May be called for a channel that is
   * not watched, and watches nothing. May return false for a while after the last member has left.
   */
  isEmpty(channel: string): Promise<boolean>;
  /** Returns the members whose holders have a lease, in any order. */
  read(channel: string): Promise<readonly PresenceMember[]>;
  /**
   * Stores a member in place of one with the same id, whose holder then can no longer remove it.
   *
   * @param options.ifAbsent store nothing if another holder, whose lease lasts, has a member with the id
   */
  put(channel: string, entry: PresenceEntry, options?: { readonly ifAbsent?: boolean }): Promise<void>;
  /**
   * Removes a member with its state.
   *
   * @param holder removes it only if this is its holder; `null`: regardless of that, and listeners are called with the id. May be
   *   called for a channel that is not watched.
   */
  remove(channel: string, id: string, holder: string | null): Promise<void>;
  /**
   * Sets the state of a member. May be called for a channel that is not watched.
   *
   * @returns whether there is such a member
   */
  setState(channel: string, id: string, json: string): Promise<boolean>;
}

/** The parameters of {@link PresenceStore.watch}. */
export interface PresenceWatch {
  readonly holder: string;
  readonly leaseMs: number;
  readonly listener: PresenceListener;
}

/** How long a record is kept, in milliseconds: 10 minutes. */
export const OUTCOME_MS = 10 * 60 * 1000;

/**
 * Where processes keep what idempotent functions led to, for {@link OUTCOME_MS} each. Keys are texts of base64url. A store that is full
 * refuses new records, and never drops one: its submission could run twice.
 *
 * @see docs/protocol.md 15.8
 */
export interface OutcomeStore {
  /**
   * Stores a text under a key without one, and resolves with `null`; otherwise with the text that is stored. Of several calls for
   * one key at once, in any processes, exactly one stores its text. After a lost reply, it may resolve with the text of the
   * caller itself.
   *
   * @throws Error if the server did not respond in time, or if the store is full
   */
  claim(key: string, text: string): Promise<string | null>;
  /** Replaces the text of a key. */
  write(key: string, text: string): Promise<void>;
  /** Removes a key. */
  remove(key: string): Promise<void>;
  /** Optional. Returns whether half of the space is used. The other half is for claims and small outcomes, with a limit for each address. */
  isHalfFull?(): boolean;
}
