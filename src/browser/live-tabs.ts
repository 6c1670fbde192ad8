/**
 * The tabs of a browser that have one sign-in share one connection for live updates (docs/protocol.md 10.10). One tab, the
 * leader, holds a lock and the connection. It asks for the listeners of all tabs, and passes on what it receives.
 *
 * These invariants make delivery complete, once and in order, whichever tab leads, and if two do for a moment:
 *
 * 1. Each tab has its own positions. A frame states from which position on it is complete, so that a listener decides alone
 *    whether it takes it (`receive` in live-listeners.ts). Nothing else depends on the order in which tabs lead.
 * 2. A tab takes nothing before a leader has opened a connection that contains what it wants: so the server has checked its
 *    feeds with the present cookie. A page that is restored from the back/forward cache joins as another tab.
 * 3. The leader moves the position of another tab's listener only for frames that it has also passed to that tab. If the tab
 *    has more, it receives the rest twice and drops it. If it has less, because a message between the tabs was lost, the next
 *    heartbeat shows it positions that it has not reached, and it posts again what it wants.
 * 4. A version numbers what a tab wants. Every heartbeat lists the versions that the connection contains. A tab whose version
 *    is not listed posts again, until it is.
 * 5. Each tab holds a lock with its id. When the leader gets it, the tab has ended: also after a crash.
 *
 * Locks and channels of broadcasts are named by the base and the tag of the sign-in, so that tabs of two sign-ins never share
 * anything. Each tab announces its tag to those of other sign-ins: their leaders connect again, and the server checks their
 * feeds with the cookie that the browser has now.
 */
import { isLater } from "../protocol/index.ts";
import {
  type Frame,
  getSubscriptions,
  type LiveRequest,
  listeners,
  me,
  receive,
  removeTab,
  type Subscription,
  type Tab,
  tabs,
} from "./live-listeners.ts";
import { getPageData } from "./page-data.ts";
import { HEARTBEAT_MS, MERGE_MS, SILENCE_MS } from "./timings.ts";

/** A message between the tabs: one of its members. */
interface Broadcast {
  /** What a tab wants to receive. */
  readonly want?: Tab & { readonly subscriptions: readonly Subscription[] };
  /** What the leader has received. */
  readonly frames?: readonly Frame[];
  /** The state of the leader: when it has changed, and as a heartbeat. Without a connection, each tab posts what it wants. */
  readonly beat?: readonly [
    isHidden: boolean,
    /** The ids with versions of the tabs whose listeners the connection contains. */
    served: readonly string[] | undefined,
    /** The positions of the connection, by channel. */
    positions: ReadonlyMap<string, string>,
  ];
  /** The id of a tab that has to connect itself: there are more channels than one connection can have. */
  readonly dismissed?: string | undefined;
}

/** Whether this page has a connection. */
export let isLeader = true;
/** Whether this page shares a connection. */
export let isShared = false;
/** Whether this page never shares one: the browser refuses it, or the leader has too many channels. */
let isAlone = false;
/** The request of the connection that is open. */
let openRequest: LiveRequest | undefined;
let leaving: AbortController;
let post: (message: Broadcast) => void;

/**
 * Shares the connection with the other tabs of the browser, if it allows that and this page does not do so already.
 *
 * @param restart connects again after a time in milliseconds, or posts what this tab wants
 * @param disconnect closes the connection
 * @param connectAlone connects without the other tabs
 */
export function join(restart: (ms?: number) => void, disconnect: () => void, connectAlone: () => void): void {
  const { locks } = navigator;
  // Browsers have no locks on pages of http:, except those of localhost.
  if (isShared || isAlone || !locks || !globalThis.BroadcastChannel) return;
  const { base, tag = "" } = getPageData();
  const prefix = `tsweb/1${base}`;
  const name = `${prefix}?${tag}`;
  const channel = new BroadcastChannel(name);
  const signIns = new BroadcastChannel(prefix);
  const id = `${Math.random()}`;
  /** The number of times that this tab got the lock. */
  let turns = 0;
  let isLeaderHidden = false;
  let heardAt = performance.now();
  leaving = new AbortController();
  const { signal } = leaving;
  const left = new Promise<void>((resolve) =>
    signal.addEventListener("abort", () => {
      clearInterval(timer);
      channel.close();
      signIns.close();
      tabs.forEach(removeTab);
      isShared = false;
      isLeader = me.isServed = true;
      resolve();
    }),
  );

  /** Leaves the other tabs for good, unless this tab has left anyway. */
  function leaveForGood(): void {
    if (signal.aborted) return;
    isAlone = true;
    leaving.abort();
    connectAlone();
  }

  /** Requests the lock of a tab. */
  function request(id: string, callback: () => unknown): void {
    locks.request(name + id, { signal }, callback).catch(leaveForGood);
  }

  /** Sends a heartbeat; or replaces a leader that is hidden or silent, if this page is visible. */
  function check(): void {
    if (isLeader) sendHeartbeat();
    else if (!document.hidden && (isLeaderHidden || performance.now() - heardAt > SILENCE_MS)) lead({ steal: true });
  }

  /** Becomes the leader as soon as it has the lock. */
  function lead(options: LockOptions): void {
    let turn = 0;
    locks
      .request(name, options, () => {
        if (signal.aborted) return;
        turn = ++turns;
        tabs.forEach(removeTab);
        openRequest = undefined;
        isLeader = true;
        sendHeartbeat();
        restart(MERGE_MS);
        return left;
      })
      .catch(({ name }) => {
        // Another tab has stolen the lock. The connection stays open until that tab has one.
        if (signal.aborted || turn !== turns) return;
        heardAt = performance.now();
        isLeader = false;
        if (name !== "AbortError") leaveForGood();
        else if (options.signal) lead(options);
      });
  }

  channel.onmessage = ({ data: { want, frames, beat, dismissed } }: MessageEvent<Broadcast>) => {
    if (want) {
      const { id } = want;
      const known = tabs.get(id);
      if (!isLeader || known?.version === want.version) return;
      removeTab(known);
      want.isServed = false;
      tabs.set(id, want);
      for (const subscription of want.subscriptions) listeners.add({ ...subscription, tab: want });
      if (!known) request(id, () => removeTab(tabs.get(id)) && restart(MERGE_MS));
      if (document.hidden) sendHeartbeat(); // a visible tab replaces this one
      restart(MERGE_MS);
      return;
    }
    heardAt = performance.now();
    if (frames && me.isServed && receive(frames)) restart();
    if (dismissed === me.id) leaveForGood();
    if (!beat) return;
    const [isHidden, served, positions] = beat;
    isLeaderHidden = isHidden;
    if (!served?.includes(me.id + me.version)) postWant();
    else if (!isLeader) {
      me.isServed = true;
      disconnect();
      for (const { tab, channel, position } of listeners) {
        const reached = positions.get(channel);
        if (tab === me && (!reached || isLater(reached, position))) restart();
      }
    }
    if (!isLeader) check();
  };
  signIns.onmessage = ({ data }) => isLeader && data !== tag && restart();
  signIns.postMessage(tag);
  const timer = setInterval(check, HEARTBEAT_MS);
  document.addEventListener("visibilitychange", check, { signal });
  post = (message) => channel.postMessage(message);
  isShared = true;
  isLeader = me.isServed = false;
  me.id = "";
  request(id, () => {
    me.id = id;
    restart();
    return left;
  });
  lead({ signal });
}

/** Stops sharing, so that the page can be frozen or kept in the back/forward cache, and other tabs need not wait. */
export function leave(): void {
  if (isShared) leaving.abort();
}

/** Passes frames of the connection to the other tabs. */
export function passOn(frames: readonly Frame[]): void {
  if (tabs.size && frames.length) post({ frames });
}

/** Posts what this tab wants. */
export function postWant(): void {
  if (me.id) post({ want: { ...me, subscriptions: getSubscriptions(me) } });
}

/** Notifies the other tabs that a connection is open, before any of its frames. */
export function announce(request: LiveRequest): void {
  openRequest = request;
  for (const tab of request.tabs) tab.isServed = true;
  if (isShared) sendHeartbeat();
}

/** Lets the tab that has joined last connect itself, because one connection cannot have the channels of all. */
export function dismissTab(): void {
  const tab = [...tabs.values()].pop();
  removeTab(tab);
  post({ dismissed: tab?.id });
}

function sendHeartbeat(): void {
  post({
    beat: [
      document.hidden,
      openRequest?.tabs.map(({ id, version }) => id + version),
      new Map(openRequest?.subscriptions.map(({ channel, position }) => [channel, position])),
    ],
  });
}
