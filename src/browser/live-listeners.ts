import { type GapReason, isLater, START } from "../protocol/index.ts";
import { callSafely } from "./lifecycle.ts";
import { MAX_RELOAD_DELAY_MS } from "./timings.ts";

/** A tab of the browser. This page has the record {@link me}; a page that leads the others has one for each of them. */
export interface Tab {
  /** Random, and new when the page is restored from the back/forward cache. */
  id: string;
  /** The number of changes of what the tab listens to. */
  version: number;
  /** Whether no connection contains its listeners yet: until then, they take nothing. Not for this page. */
  isNew?: boolean;
  /** What another tab displays. */
  displays?: readonly DisplayRequest[];
}

/** What is received of a channel. */
export interface Subscription {
  readonly feed: string;
  readonly channel: string;
  /** All messages up to this position were received. Empty after a gap. */
  position: string;
}

/** One call of `subscribe`: of this page, or without functions the subscription of another tab, for which this page asks. */
export interface Listener extends Subscription {
  readonly tab: Tab;
  // biome-ignore lint/suspicious/noExplicitAny: the feed's type is the type of its messages
  readonly handler?: (message: any) => unknown;
  readonly gap?: (reason: GapReason, windowMs: number) => unknown;
}

/** What a request contains of what a page shows and the server keeps current: who is present in a channel, or the value of a query. */
export interface DisplayRequest {
  /** The member of the request that has its token. */
  readonly member: "tokens" | "queries";
  /** The type of its events. */
  readonly event: string;
  /** The first line of its events: the channel, or the id of the query. */
  readonly key: string;
  /** The permission, signed by the server, with the version that the page has: `<token>~<version>`. */
  readonly token: string;
}

/** What a page shows and the server keeps current. */
export interface Display extends DisplayRequest {
  /** Called with the content of each event. */
  // biome-ignore lint/suspicious/noExplicitAny: the type of the event determines the type of its content
  readonly frame: (content: any) => unknown;
}

/**
 * What displays.ts adds, which pages without displays do not load; and the content of the last event of each other type than those
 * of channels.
 */
export interface Extras {
  /** The displays of the page. */
  displays?: Set<Display>;
  /** Adds the tokens of the displays to a request, and returns their number. */
  complete?(request: LiveRequest): number;
  /** Passes an event to the displays. */
  receive?(frame: Frame): void;
  /** The channels of the connection, by their tags. @see docs/protocol.md 10.13 */
  tags?: Tags;
  [event: string]: unknown;
}

type Tags = Readonly<Record<string, string>>;

/** A live request. Each message moves the position of a subscription. */
export interface LiveRequest {
  readonly subscriptions: readonly Subscription[];
  /** The tokens of displays, by the member of the request, and its member `wait`: of a poll. */
  tokens: Partial<Record<DisplayRequest["member"], readonly string[] | undefined>> & { wait?: number };
  /** The tabs whose listeners it contains, if this page shares its connection. */
  tabs?: readonly Tab[];
}

/**
 * What a connection has received of a channel: all messages after `position`, up to `to`; with a reason a gap after `position`. It is
 * passed to all tabs, and does not depend on the connection or on what was received before it. Or an event of displays, or the
 * status of a poll that was refused.
 */
export interface Frame {
  /** The channel, or the first line of the event. */
  readonly channel: string;
  /** The feed that was requested. */
  readonly feed?: string;
  readonly position?: string;
  readonly to?: string;
  readonly messages?: readonly unknown[];
  /** Whether the messages are anywhere between `position` and `to`, and not one at `to`. */
  readonly isBatch?: boolean;
  readonly reason?: GapReason | undefined;
  readonly windowMs?: number | undefined;
  readonly event?: string | undefined;
  readonly content?: unknown;
}

/** This page. Module state, as are the listeners, because a page has one connection and lives as long as its modules. */
export const me = {} as Tab; // live-tabs.ts sets its fields

/** All listeners of the page, and of the tabs that it leads. */
export const listeners = new Set<Listener>();

export const extras: Extras = {};

/**
 * Returns what all listeners, or those of a tab, want to receive: each channel once, with the feed and the position of the
 * listener at the earliest position. The others ignore messages that they have received already.
 */
export function getSubscriptions(of?: Tab): Subscription[] {
  const earliest = new Map<string, Subscription>();
  for (const { tab, feed, channel, position } of listeners)
    if ((!of || tab === of) && !isLater(position, earliest.get(channel)?.position ?? position))
      earliest.set(channel, { feed, channel, position });
  return [...earliest.values()];
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
export function receive(frames: readonly Frame[]): boolean | undefined {
  let isIncomplete: boolean | undefined;
  for (const frame of frames) {
    const {
      channel,
      feed,
      position: from = "",
      to = "",
      messages = [],
      isBatch,
      reason,
      windowMs,
      event,
      content,
    } = frame;
    const served = [...listeners].filter((listener) => listener.channel === channel && !listener.tab.isNew);
    if (reason) {
      for (const listener of served) {
        const { position } = listener;
        const isLost =
          reason === "expired"
            ? listener.feed === feed
            : !isLater(position, from) && (from === START || position !== START);
        if (isLost && listeners.delete(listener))
          callSafely(() => listener.gap?.(reason, windowMs || MAX_RELOAD_DELAY_MS));
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
    if (event) {
      extras[event] = content;
      extras.receive?.(frame);
    }
  }
  return isIncomplete;
}
