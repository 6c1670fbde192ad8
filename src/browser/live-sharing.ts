/**
 * Finds out whether the browser has other tabs with live updates, and only then loads `live-tabs.ts`, with which they share a
 * connection. Most pages have no other tab, and do without it.
 *
 * The first tab of a sign-in gets the lock for the connection. A tab that does not get it loads the module before it connects: on
 * HTTP/1.1 the connections of six tabs would keep all of them from loading it. The first tab loads it when another one broadcasts its
 * tag, or steals the lock. A tab that cannot load it, for example because the server has another build, has its own connection.
 */
import { isLater } from "../protocol/index.ts";
import { extras, getSubscriptions, listeners, me, receive } from "./live-listeners.ts";
import type { Sharing, SharingPage } from "./live-tabs.ts";
import { getPageData } from "./page-data.ts";
import { OPEN_TIMEOUT_MS } from "./timings.ts";

/** The broadcasts of tags, while this page is open to other tabs. */
export let signIns: BroadcastChannel | undefined;
/** The other tabs, once there are any. */
export let sharing: Sharing | undefined;
/** Set if this page connects without `sharing`: releases the lock, if it has it. Until one of both is set, the page must not connect. */
export let release: (() => void) | undefined;
/** Whether this page never shares: the browser refuses it, the module cannot be loaded, or the leader has too many channels. */
let isAlone = false;

/**
 * Shares the connection with the other tabs of the browser, if it allows that and this page does not do so already.
 *
 * @param restart connects again after a time in milliseconds, or posts what this page wants
 * @param disconnect closes the connection
 * @param connectAlone connects without the other tabs
 */
export function join(restart: SharingPage[0], disconnect: SharingPage[1], connectAlone: () => void): void {
  const { locks } = navigator;
  const { base, tag: pageTag = "" } = getPageData();
  // Browsers have no locks on pages of http:, except those of localhost. A page for all clients does not know its sign-in.
  if (signIns || isAlone || !locks || !globalThis.BroadcastChannel || pageTag === null) return;
  const tag: string = pageTag;
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
      if (own === signIns)
        sharing = share([
          restart,
          disconnect,
          leaveForGood,
          listeners,
          extras,
          me,
          getSubscriptions,
          receive,
          isLater,
          own,
          name,
          tag,
          release,
        ]);
    }, leaveForGood);
  }

  function connect(unlock: () => void): void {
    release = unlock;
    restart();
  }

  signIns = own;
  own.onmessage = load;
  own.postMessage(tag);
  setTimeout(() => own === signIns && !release && !sharing && connect(() => {}), OPEN_TIMEOUT_MS);
  locks
    .request(name, { ifAvailable: true }, (lock) => {
      if (own !== signIns || loading) return;
      return lock ? new Promise<void>(connect) : load();
    })
    .catch(load);
}

/** Stops sharing, so that the page can be frozen or kept in the back/forward cache, and other tabs need not wait. */
export function leave(): void {
  sharing?.leave();
  release?.();
  signIns?.close();
  signIns = sharing = release = undefined;
}
