import type { Feed, GapReason, Serialized } from "../protocol/index.ts";
import { readFeed } from "../protocol/index.ts";
import { endWithMount } from "./lifecycle.ts";
import { restart } from "./live.ts";
import { ask, listeners } from "./live-listeners.ts";
import { followPage } from "./live-page.ts";
import { reload } from "./live-reload.ts";

/** The most that one connection carries. */
const MAX_CHANNELS = 32;

/** What {@link subscribe} may be told. */
export interface SubscribeOptions {
  /**
   * Called once, when messages were missed for good, with the reason; nothing comes after it. Without it the
   * page is reloaded: after a moment, once nobody has entered anything into its fields, and at most
   * once in 30 seconds.
   */
  readonly gap?: (reason: GapReason) => unknown;
}

/**
 * Calls `handler` with every message to a feed's channel since the feed was issued, in order, each once.
 *
 * The page has one connection, whatever it listens to, and it takes care of that: through lost
 * networks, servers and proxies, from the last message it had. When messages are lost for good, that
 * is told: {@link SubscribeOptions.gap}. A handler runs like an event handler; what several messages
 * change that arrive together is rendered once. What it throws is an uncaught error of the page, and
 * keeps no other from running. All handlers of a channel are given the same message: leave it as it is.
 *
 * @returns what stops it. One that is started in `on_mount` ends with the component; after an `await`
 *   in there, `on_unmount` is to stop it
 * @throws TypeError for what is no feed
 * @throws RangeError for a 33rd channel
 * @see the interface, "Events"
 * @example on_mount(() => subscribe(feed, (message) => shown.messages.push(message)));
 */
export function subscribe<T>(
  feed: Feed<T>,
  handler: (message: Serialized<T>) => unknown,
  { gap = reload }: SubscribeOptions = {},
): () => void {
  const listener = { ...readFeed(feed), feed, handler, gap };
  listeners.add(listener);
  if (ask(false).channels.length > MAX_CHANNELS) {
    listeners.delete(listener);
    throw new RangeError(`A page has ${MAX_CHANNELS} channels at most`);
  }
  const stop = () => {
    if (listeners.delete(listener)) void restart();
  };
  endWithMount(stop);
  followPage();
  void restart();
  return stop;
}
