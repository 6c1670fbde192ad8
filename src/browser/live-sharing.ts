/**
 * Finds out whether the browser has other tabs with live updates, and only then loads `live-tabs.ts`, with which they share a
 * connection. Most pages have no other tab, and do without it.
 *
 * The first tab of a sign-in gets the lock for the connection. A tab that does not get it loads the module before it connects: on
 * HTTP/1.1 the connections of six tabs would keep all of them from loading it. The first tab loads it when another one broadcasts its
 * tag, or steals the lock. A tab that cannot load it, for example because the server has another build, has its own connection.
 */
import { isLater } from "../protocol/index.ts";
import { getSubscriptions, listeners, me, receive } from "./live-listeners.ts";
import type { Connection, Sharing } from "./live-tabs.ts";
import { getPageData } from "./page-data.ts";
import { OPEN_TIMEOUT_MS } from "./timings.ts";

/** The other tabs, once there are any. */
export let sharing: Sharing | undefined;
/** Whether this page must not connect yet, because another tab may have a connection. */
export let isWaiting = false;
/** The broadcasts of tags, while this page is open to other tabs. */
export let signIns: BroadcastChannel | undefined;
/** Whether this page never shares: the browser refuses it, the chunk cannot be loaded, or the leader has too many channels. */
let isAlone = false;
let release: (() => void) | undefined;

/**
 * Shares the connection with the other tabs of the browser, if it allows that and this page does not do so already.
 *
 * @param connectAlone connects without the other tabs
 */
export function join(connection: Connection, connectAlone: () => void): void {
  const { locks } = navigator;
  // Browsers have no locks on pages of http:, except those of localhost.
  if (signIns || isAlone || !locks || !globalThis.BroadcastChannel) return;
  const { base, tag = "" } = getPageData();
  const prefix = `tsweb/1${base}`;
  const name = `${prefix}?${tag}`;
  const own = new BroadcastChannel(prefix);
  let loading: Promise<unknown> | undefined;

  function leaveForGood(): void {
    if (own !== signIns) return;
    isAlone = true;
    leave();
    connectAlone();
  }

  function load(): void {
    loading ??= import("./live-tabs.ts").then(({ share }) => {
      if (own !== signIns) return;
      isWaiting = false;
      sharing = share({
        ...connection,
        me,
        listeners,
        getSubscriptions,
        receive,
        isLater,
        tag,
        name,
        signIns: own,
        hasLock: !!release,
        leaveForGood,
      });
    }, leaveForGood);
  }

  /** Connects while the chunk is not loaded. */
  function connect(): void {
    if (own !== signIns || !isWaiting) return;
    isWaiting = false;
    connection.restart();
  }

  signIns = own;
  isWaiting = true;
  own.onmessage = load;
  own.postMessage(tag);
  setTimeout(connect, OPEN_TIMEOUT_MS);
  locks
    .request(name, { ifAvailable: true }, (lock) => {
      if (own !== signIns || loading) return;
      if (!lock) return load();
      connect();
      return new Promise<void>((resolve) => {
        release = resolve;
      });
    })
    .catch(load);
}

/** Stops sharing, so that the page can be frozen or kept in the back/forward cache, and other tabs need not wait. */
export function leave(): void {
  if (!signIns) return;
  sharing?.leave();
  release?.();
  signIns.close();
  signIns = sharing = release = undefined;
  isWaiting = me.isServed = false;
}
