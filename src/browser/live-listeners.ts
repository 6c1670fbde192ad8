import { type GapReason, isLater, type PollResponse } from "../protocol/index.ts";
import { callSafely } from "./lifecycle.ts";
import { MAX_RELOAD_DELAY_MS } from "./timings.ts";

/** One call of `subscribe`. */
export interface Listener {
  readonly feed: string;
  readonly channel: string;
  /** The listener has received all messages up to this position. */
  position: string;
  // biome-ignore lint/suspicious/noExplicitAny: the feed's type is the type of its messages
  readonly handler: (message: any) => unknown;
  readonly gap: (reason: GapReason, windowMs: number) => unknown;
}

/** A live request: its query, and the listeners that receive its messages. */
export interface SubscriptionRequest {
  readonly query: string;
  /** In the order of the query. */
  readonly channels: readonly string[];
  readonly recipients: readonly Listener[];
}

/** A message, with its channel. */
export type Delivery = PollResponse["events"][number];

/** All listeners of the page. Module state, because a page has one connection and lives as long as its modules. */
export const listeners = new Set<Listener>();

/**
 * Builds a request for all listeners. It contains each channel once, from the earliest position of its listeners. The
 * others ignore messages that they have received already.
 *
 * @param isPoll the messages of a poll response have no positions, so only the listeners at the earliest position are
 *   recipients; the next request serves the others
 */
export function buildRequest(isPoll: boolean): SubscriptionRequest {
  const earliest = new Map<string, Listener>();
  for (const listener of listeners) {
    const current = earliest.get(listener.channel);
    if (!current || !isLater(listener.position, current.position)) earliest.set(listener.channel, listener);
  }
  const requested = [...earliest.values()];
  return {
    query: `${requested.map(({ feed }) => `feed=${feed}&`).join("")}after=${requested.map(({ position }) => position)}`,
    channels: [...earliest.keys()],
    recipients: [...listeners].filter(
      ({ channel, position }) => !isPoll || position === earliest.get(channel)?.position,
    ),
  };
}

/**
 * Moves the recipients of a request to the positions of `cursor`, then calls them with the messages, synchronously, so
 * that all changes are rendered once.
 *
 * No listener receives a message twice: those that are at the new position already are left out. Listeners that were
 * added after the request was built are not recipients, because they would miss the messages before.
 *
 * @param cursor one position for each channel of the request
 * @throws TypeError if the cursor has another number of positions
 */
export function deliver(
  { channels, recipients }: SubscriptionRequest,
  cursor: string,
  deliveries: readonly Delivery[],
): void {
  const positions = cursor.split(",");
  // Checked before any listener moves, because a listener that has moved counts as having the message.
  if (positions.length !== channels.length) throw new TypeError(cursor);
  const moved = recipients.filter((listener) => {
    const position = positions[channels.indexOf(listener.channel)] as string; // as many as channels
    if (!isLater(position, listener.position)) return false;
    listener.position = position;
    return true;
  });
  for (const [channel, message] of deliveries) {
    for (const listener of moved) {
      if (listener.channel === channel && listeners.has(listener)) callSafely(() => listener.handler(message));
    }
  }
}

/**
 * Reports a gap to the recipients of a channel that have missed messages, those at the earliest position, and removes
 * them.
 *
 * @param gap its channel, its reason, and the time in which pages are to reload, if that is longer than usual
 * @returns whether other recipients remain, which have received the lost messages
 */
export function reportGap(
  { recipients }: SubscriptionRequest,
  [channel, reason, windowMs = MAX_RELOAD_DELAY_MS]: PollResponse["gaps"][number],
): boolean {
  const affected = recipients.filter((listener) => listener.channel === channel && listeners.has(listener));
  const behind = affected.filter(({ position }) => !affected.some((other) => isLater(position, other.position)));
  for (const listener of behind) if (listeners.delete(listener)) callSafely(() => listener.gap(reason, windowMs));
  return behind.length < affected.length;
}
