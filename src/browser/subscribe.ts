import { type Feed, type GapReason, MAX_FEEDS, readFeed, type SerializedResult } from "../protocol/index.ts";
import { stopOnUnmount } from "./lifecycle.ts";
import { restart, watchPage } from "./live.ts";
import { getSubscriptions, listeners, me } from "./live-listeners.ts";
import { reload } from "./reload.ts";

/** The options of {@link subscribe}. */
export interface SubscribeOptions {
  /**
   * Called once, with the reason, if messages were lost; the subscription has then ended. By default, the page is
   * reloaded: after a random delay of up to `withinMs`, not while a field has unsaved input, and not before 30 seconds have
   * passed since a reload.
   *
   * `withinMs` is 3,000, or more if many pages have a gap at the same time, at most 120,000. A function that requests new
   * data from the server should do so after a random part of it.
   */
  readonly gap?: (reason: GapReason, withinMs: number) => unknown;
}

/**
 * Calls `handler` with every message that was published to the feed's channel since the feed was issued: in order,
 * each once.
 *
 * All subscriptions of a page share one connection, also with other tabs of the same sign-in. It is restored after failures of the network, of a server or a
 * proxy, and continues after the last message. If messages were lost, {@link SubscribeOptions.gap} is called. An error
 * of a handler is an uncaught error of the page and does not affect other handlers. Changes by several messages that
 * arrive together are rendered once. All handlers of a channel receive the same object: do not change it.
 *
 * @param feed the result of `channel(name)` on the server, passed to the view as a prop; valid for 24 hours
 * @param handler called with each message, as it was serialised. Its result is ignored.
 * @returns a function that ends the subscription. A subscription that is started in `on_mount` ends with the
 *   component, except after an `await`: then call the function in `on_unmount`
 * @throws TypeError if `feed` is not a feed
 * @throws RangeError for the 257th channel of a page
 * @see docs/protocol.md 10.8, 10.10
 * @example on_mount(() => subscribe(feed, (message) => shown.messages.push(message)));
 */
export function subscribe<T>(
  feed: Feed<T>,
  handler: (message: SerializedResult<T>) => unknown,
  { gap = (_, withinMs) => reload(withinMs) }: SubscribeOptions = {},
): () => void {
  const listener = { ...readFeed(feed), tab: me, feed, handler, gap };
  listeners.add(listener);
  if (getSubscriptions(me).length > MAX_FEEDS) {
    listeners.delete(listener);
    throw new RangeError(`At most ${MAX_FEEDS} channels per page`);
  }
  const stop = () => {
    if (listeners.delete(listener)) restart();
  };
  stopOnUnmount(stop);
  watchPage();
  restart();
  return stop;
}
