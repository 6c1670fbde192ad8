/**
 * A place in a channel's history: opaque, `/^[0-9A-Za-z.-]{1,40}$/`. Of two positions of one channel the
 * longer is the later, and of one length they compare with `<`.
 */
export type Position = string;

/** What a position may look like: whatever comes from outside is held to it before a bus sees it. */
export const POSITION_PATTERN = /^[0-9A-Za-z.-]{1,40}$/;

/** A message as a bus holds it. */
export interface Message {
  readonly position: Position;
  /** JSON text, as it was published. */
  readonly data: string;
}

/** A part of a channel's history. */
export interface ReadResult {
  /** What comes after the position that was asked for, oldest first. */
  readonly messages: readonly Message[];
  /**
   * The bus cannot vouch that nothing was lost since: then there are no messages. It may be a false
   * alarm; it is never missed.
   */
  readonly gap: boolean;
  /**
   * With a gap, where the bus can tell: the position is none of this history, which was emptied, set back or
   * begun anew. Otherwise what comes after it is no longer held.
   */
  readonly reset?: true;
  /** Where to read on. */
  readonly end: Position;
  /** There is more after `end` by now. */
  readonly more: boolean;
}

/** Messages that a bus hands on with a wake-up: all that came after a position, and nothing left out. */
export interface Notification {
  readonly after: Position;
  readonly messages: readonly Message[];
}

/** Is told that there is something to read, or given it. It must not throw. */
export type ChannelListener = (fresh?: Notification) => void;

/**
 * Carries messages between the processes of an application, and holds each channel's last ones.
 *
 * What all buses promise is held by one suite, `tests/conformance/bus.ts`: messages of a channel have
 * one order, the same for every reader; a read is complete or says that it has a gap; a position that
 * was handed out stays usable while what came after it is held.
 */
export interface Bus {
  /**
   * Appends a message. What one caller publishes to a channel keeps its order.
   *
   * @returns its position, once the bus holds it
   * @throws when it is not known whether the bus holds it; then it may or may not arrive, once at most
   */
  publish(channel: string, data: string): Promise<Position>;
  /** Gives the end of each channel's history as it is now, in the order asked. */
  position(channels: readonly string[]): Promise<Position[]>;
  /** Reads on from a position; never waits for messages to come. At most `limit` messages. */
  read(channel: string, after: Position, limit: number): Promise<ReadResult>;
  /**
   * Calls `wake` after every message to a channel, soon and at least once for all that came since the
   * last call; also whenever messages may have been missed (a connection that was lost and is back).
   * With `fresh`, nothing needs to be read.
   *
   * @returns what ends it
   */
  watch(channel: string, wake: ChannelListener): Promise<() => void>;
  /** Lets go of connections and timers; what is pending is rejected. */
  close(): Promise<void>;
}
