import { type GapReason, isLater } from "../protocol/index.ts";
import { guard } from "./lifecycle.ts";

/** One subscription. */
export interface Listener {
  readonly feed: string;
  readonly channel: string;
  /** Up to where it has had everything. */
  position: string;
  // biome-ignore lint/suspicious/noExplicitAny: what a message is, the feed's type says to the handler
  readonly handler: (message: any) => unknown;
  readonly gap: (reason: GapReason) => unknown;
}

/** A request: what it asks for, and who gets what it brings. */
export interface Asked {
  readonly query: string;
  /** In the order of the query. */
  readonly channels: readonly string[];
  readonly served: readonly Listener[];
}

/** A channel, and a message to it. */
export type Delivery = readonly [channel: string, message: unknown];

/** All that listen. */
export const listeners = new Set<Listener>();

/**
 * Makes a request for all that listen. A channel is asked for once, from the position of the listener
 * that is behind the others: they wait in it until it has come up to them.
 *
 * @param isPoll its answer does not say where each message stands, so it is for those alone who stand
 *   where it was asked from; the others are next
 */
export function ask(isPoll: boolean): Asked {
  const last = new Map<string, Listener>();
  for (const listener of listeners) {
    const other = last.get(listener.channel);
    if (!other || !isLater(listener.position, other.position)) last.set(listener.channel, listener);
  }
  const asked = [...last.values()];
  return {
    query: `${asked.map(({ feed }) => `feed=${feed}&`).join("")}after=${asked.map(({ position }) => position)}`,
    channels: [...last.keys()],
    served: [...listeners].filter(({ channel, position }) => !isPoll || position === last.get(channel)?.position),
  };
}

/**
 * Moves those who are served to where a request has come, then gives them its messages, all in one go
 * so that what they change is rendered once.
 *
 * Nobody gets a message twice, since whoever is there already stays out of it. A listener that came
 * after the request was made has no part in it: it would miss what lies between.
 *
 * @param cursor a position for each channel that was asked for
 * @throws TypeError for a cursor that has fewer or more
 */
export function deliver({ channels, served }: Asked, cursor: string, deliveries: readonly Delivery[]): void {
  const positions = cursor.split(",");
  // Before anybody has moved: whoever moves has had the message.
  if (positions.length !== channels.length) throw new TypeError(cursor);
  const moved = served.filter((listener) => {
    const position = positions[channels.indexOf(listener.channel)] as string; // they are as many
    if (!isLater(position, listener.position)) return false;
    listener.position = position;
    return true;
  });
  for (const [channel, message] of deliveries) {
    for (const listener of moved) {
      if (listener.channel === channel && listeners.has(listener)) guard(() => listener.handler(message));
    }
  }
}

/**
 * Ends those who listen to a channel and cannot have all of it, and tells them: those who are behind.
 *
 * @returns whether there are others, who have had what is lost
 */
export function tell({ served }: Asked, lost: string, reason: GapReason): boolean {
  const theirs = served.filter((listener) => listener.channel === lost && listeners.has(listener));
  const behind = theirs.filter(({ position }) => !theirs.some((other) => isLater(position, other.position)));
  for (const listener of behind) if (listeners.delete(listener)) guard(() => listener.gap(reason));
  return behind.length < theirs.length;
}
