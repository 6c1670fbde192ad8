import { type GapReason, isLater, type PresenceFrame, START } from "../protocol/index.ts";
import { callSafely } from "./lifecycle.ts";
import { MAX_RELOAD_DELAY_MS } from "./timings.ts";

/** A tab of the browser. This page has the record {@link me}; a page that leads the others has one for each of them. */
export interface Tab {
  /** Random, and new when the page is restored from the back/forward cache. */
  id: string;
  /** The number of changes of what the tab listens to. */
  version: number;
  /** Whether a connection that was opened after the tab had joined contains its listeners: before, it takes nothing. */
  isServed: boolean;
  /** The tokens of its presence. */
  tokens: readonly string[];
}

/** One call of `subscribe`: of this page, or without functions one of another tab, for which this page asks. */
export interface Listener {
  readonly tab: Tab;
  readonly feed: string;
  readonly channel: string;
  /** The listener has received all messages up to this position. */
  position: string;
  // biome-ignore lint/suspicious/noExplicitAny: the feed's type is the type of its messages
  readonly handler?: (message: any) => unknown;
  readonly gap?: (reason: GapReason, windowMs: number) => unknown;
}

/** A display of who is present in a channel. */
export interface PresenceListener {
  /** The permission to be present, signed by the server. */
  readonly token: string;
  readonly channel: string;
  /** Called with each frame of the channel. */
  readonly frame: (frame: PresenceFrame) => unknown;
}

/** A live request. Its members are in the order of the request; a position is empty after a gap. */
export interface LiveRequest {
  readonly feeds: readonly string[];
  readonly channels: readonly string[];
  /** Moved by each message. */
  readonly positions: string[];
  readonly tokens: readonly string[];
  /** The tabs whose listeners it contains. */
  readonly tabs: readonly Tab[];
}

/**
 * What a connection has received of a channel: all messages after `from`, up to `to`; with a reason a gap after `from`; or a
 * frame of presence. It is passed to all tabs, and does not depend on the connection or on what was received before it.
 */
export interface Frame {
  readonly channel: string;
  /** The feed that was requested. */
  readonly feed?: string;
  readonly from?: string;
  readonly to?: string;
  readonly messages?: readonly unknown[];
  /** Whether the messages are anywhere between `from` and `to`, and not one at `to`. */
  readonly isBatch?: boolean;
  readonly reason?: GapReason | undefined;
  readonly windowMs?: number | undefined;
  readonly presence?: PresenceFrame;
}

/** This page. Module state, as are the listeners, because a page has one connection and lives as long as its modules. */
export const me: Tab = { id: "", version: 0, isServed: true, tokens: [] };

/** The other tabs, by id, if this page leads them. */
export const tabs = new Map<string, Tab>();

/** All listeners of the page, and of the tabs that it leads. */
export const listeners = new Set<Listener>();

/** All displays of presence of the page. After a change, call `watchPage()` and `restart()` of live.ts. */
export const presences = new Set<PresenceListener>();

/** Returns the tokens of the presence of this page. */
export function ownTokens(): string[] {
  return [...presences].map(({ token }) => token);
}

/** Removes a tab and its listeners, if it is there. @returns whether it was */
export function removeTab(removed: Tab | undefined): boolean {
  for (const listener of listeners) if (listener.tab === removed) listeners.delete(listener);
  return tabs.delete(removed?.id ?? "");
}

/**
 * Builds a request for all listeners. It contains each channel once, with the feed and the position of the listener at the
 * earliest position. The others ignore messages that they have received already.
 */
export function buildRequest(): LiveRequest {
  const earliest = new Map<string, Listener>();
  for (const listener of listeners) {
    const current = earliest.get(listener.channel);
    if (!current || !isLater(listener.position, current.position)) earliest.set(listener.channel, listener);
  }
  const requested = [...earliest.values()];
  const others = [...tabs.values()];
  return {
    feeds: requested.map(({ feed }) => feed),
    channels: [...earliest.keys()],
    positions: requested.map(({ position }) => position),
    tokens: [...new Set([...ownTokens(), ...others.flatMap(({ tokens }) => tokens)])],
    tabs: [me, ...others],
  };
}

/**
 * Passes frames to the listeners, synchronously, so that all changes are rendered once.
 *
 * A listener takes messages only if it has received everything before them, and not yet the last one: that alone makes
 * delivery complete, once and in order, whatever connection and whatever tab they come from. Of a batch, whose messages have no
 * positions of their own, a listener in between takes nothing. What follows on the start is for the listeners at the start only.
 *
 * A gap is for the listeners that have not received what was lost. An expired feed is one for the listeners with this feed.
 *
 * @returns whether the request has to change: listeners remain in a channel with a gap or before the oldest stored message, or
 *   there are none at all
 */
export function receive(frames: readonly Frame[]): boolean {
  let isIncomplete = false;
  for (const frame of frames) {
    const { channel, feed, from = "", to = "", messages = [], isBatch, reason, windowMs = MAX_RELOAD_DELAY_MS } = frame;
    const served = [...listeners].filter((listener) => listener.channel === channel && listener.tab.isServed);
    if (reason) {
      for (const listener of served) {
        const { position } = listener;
        const isLost =
          reason === "expired"
            ? listener.feed === feed
            : !isLater(position, from) && (from === START || position !== START);
        if (isLost && listeners.delete(listener)) callSafely(() => listener.gap?.(reason, windowMs));
        else isIncomplete = true;
      }
      isIncomplete ||= !listeners.size;
      continue;
    }
    const moved = served.filter(
      ({ position }) =>
        (isBatch || from === START ? position === from : !isLater(from, position)) && isLater(to, position),
    );
    for (const listener of moved) listener.position = to;
    // What was removed before the start, these may have missed: their own request reports it.
    if (from === START) isIncomplete ||= served.some(({ position }) => isLater(to, position));
    for (const message of messages)
      for (const listener of moved) if (listeners.has(listener)) callSafely(() => listener.handler?.(message));
    const { presence } = frame;
    if (presence)
      for (const listener of presences) if (listener.channel === channel) callSafely(() => listener.frame(presence));
  }
  return isIncomplete;
}
