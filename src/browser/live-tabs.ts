/**
 * The tabs of a browser that have one sign-in share one connection for live updates (docs/protocol.md 10.10). This module is loaded
 * once there are two of them (live-sharing.ts). One tab, the leader, holds a lock and the connection. It asks for the listeners of all tabs, and passes on what it receives.
 *
 * These invariants make delivery complete, once and in order, whichever tab leads, and if two do for a moment:
 *
 * 1. Each tab has its own positions. A frame states from which position on it is complete, so that a listener decides alone
 *    whether it takes it (`receive` in live-listeners.ts). Nothing else depends on the order in which tabs lead.
 * 2. A tab takes nothing before a leader has opened a connection that contains what it wants: so the server has checked its
 *    feeds with the present cookie. A page that is restored from the back/forward cache joins as another tab.
 * 3. The leader moves the position of another tab's listener only for frames that it has also passed to that tab. If the tab
 *    has more, it receives the rest twice and drops it. If it has less, because a message between the tabs was lost, the next
 *    heartbeat shows it positions that it has not reached, and it posts again what it wants. The same holds for the versions of displays:
 *    a tab that has missed a frame cannot apply the next one, and posts again what it wants.
 * 4. A version numbers what a tab wants. Every heartbeat lists the versions that the connection contains. A tab whose version
 *    is not listed posts again, until it is.
 * 5. Each tab holds a lock with its id. When the leader gets it, the tab has ended: also after a crash.
 *
 * Locks and channels of broadcasts are named by the base and the tag of the sign-in, so that tabs of two sign-ins never share
 * anything. Each tab announces its tag to those of other sign-ins: their leaders connect again, and the server checks their
 * feeds with the cookie that the browser has now.
 */

import type { QueryFrame } from "../protocol/index.ts";
import type { DisplayRequest, Extras, Frame, Listener, LiveRequest, Subscription, Tab } from "./live-listeners.ts";
import { HEARTBEAT_MS, MERGE_MS, SILENCE_MS } from "./timings.ts";

/** What this page does for other tabs, and they for it. */
export interface Sharing {
  /** Whether another tab has the connection. */
  readonly isFollower: boolean;
  /** Posts what this page wants to receive if another tab has the connection. @returns whether it has */
  want(): boolean;
  /** Adds what the other tabs want to a request. Their listeners are in it already. */
  complete(request: LiveRequest): number;
  /** Notifies the other tabs that a connection is open, before any of its frames. */
  announce(request: LiveRequest): void;
  /** Passes frames of the connection to the other tabs. */
  passOn(frames: readonly Frame[]): void;
  /**
   * Lets the tab that has joined last connect itself, because one connection cannot have the channels of all.
   *
   * @returns whether there was another tab
   */
  dismiss(): boolean;
  /** Stops sharing, so that the page can be frozen or kept in the back/forward cache, and other tabs need not wait. */
  leave(): void;
}

/**
 * What this module uses of its page. The page passes it, because an import of the page's modules would divide its script: what
 * two scripts import is in a third one. It is a tuple, because the names of members would be 60 bytes of each page.
 */
export type SharingPage = readonly [
  /** Connects again after a time in milliseconds, or posts what this page wants. */
  restart: (ms?: number) => void,
  /** Closes the connection. */
  disconnect: () => void,
  /** Leaves the other tabs for good, and connects without them. */
  leaveForGood: () => void,
  listeners: Set<Listener>,
  extras: Extras,
  me: Tab,
  getSubscriptions: (of: Tab) => Subscription[],
  receive: (frames: readonly Frame[]) => unknown,
  isLater: (position: string, than: string) => boolean,
  /** The broadcasts of the tags of all tabs. */
  signIns: BroadcastChannel,
  /** The name of the lock for the connection: that of the broadcasts, a question mark and the tag of the sign-in. */
  name: string,
  /** Whether this page may take the lock at once: it has it, or has waited for long. */
  isFirst: unknown,
];

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

/** Moves the version that a tab has of what a frame belongs to, as {@link receive} moves the positions of its listeners. */
export function advanceDisplays(tab: Tab, { event, channel, content }: Frame): void {
  const { v, error } = Object(content) as Partial<QueryFrame>; // the content of frames of displays
  if (!v && !error) return;
  tab.displays = (tab.displays ?? []).map((display) => {
    const isSame = display.event === event && display.key === channel;
    return isSame ? { ...display, token: display.token.split("~")[0] + (error ? "" : `~${v}`) } : display;
  });
}

/** Shares the connection of this page with the other tabs of the browser. */
export function share(page: SharingPage): Sharing {
  const [
    restart,
    disconnect,
    leaveForGood,
    listeners,
    extras,
    me,
    getSubscriptions,
    receive,
    isLater,
    signIns,
    name,
    isFirst,
  ] = page;
  const { locks } = navigator;
  const tag = name.slice(signIns.name.length + 1);
  const channel = new BroadcastChannel(name);
  const id = `${Math.random()}`;
  /** The other tabs, by id, if this page leads them. */
  const tabs = new Map<string, Tab>();
  /** The request of the connection that is open. */
  let openRequest: LiveRequest | undefined;
  /** The number of times that this tab got the lock. */
  let turns = 0;
  let isLeader = false;
  /** Whether a connection that was opened after this tab had joined contains its listeners: before, it takes no broadcasts. */
  let isServed = false;
  let isLeaderHidden = false;
  /** Whether the connection was opened with the versions that the displays of this tab have, so that they take its frames. */
  let isCurrent = false;
  let heardAt = performance.now();
  const leaving = new AbortController();
  const { signal } = leaving;
  const left = new Promise<void>((resolve) => {
    signal.addEventListener("abort", () => {
      clearInterval(timer);
      channel.close();
      removeTabs();
      resolve();
    });
  });

  const post = (message: Broadcast) => channel.postMessage(message);

  /** Removes a tab and its listeners, if it is there. @returns whether it was */
  function removeTab(removed: Tab | undefined): boolean {
    for (const listener of listeners) if (listener.tab === removed) listeners.delete(listener);
    return tabs.delete(removed?.id ?? "");
  }

  function removeTabs(): void {
    for (const tab of tabs.values()) removeTab(tab);
  }

  /** Requests the lock of a tab. */
  function request(id: string, callback: () => unknown): void {
    locks.request(name + id, { signal }, callback).catch(leaveUnlessLeft);
  }

  function leaveUnlessLeft(): void {
    if (!signal.aborted) leaveForGood();
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
        removeTabs();
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

  /** Returns what can be posted of the displays of this tab. */
  function ownDisplays(): DisplayRequest[] {
    return [...(extras.displays ?? [])].map(({ member, event, key, token }) => ({ member, event, key, token }));
  }

  function want(): boolean {
    isCurrent = false;
    if (!isLeader && me.id) post({ want: { ...me, subscriptions: getSubscriptions(me), displays: ownDisplays() } });
    return !isLeader;
  }

  function sendHeartbeat(): void {
    post({
      beat: [
        document.hidden,
        openRequest?.tabs?.map(({ id, version }) => id + version),
        new Map(openRequest?.subscriptions.map(({ channel, position }) => [channel, position])),
      ],
    });
  }

  channel.onmessage = ({ data: { want: wanted, frames, beat, dismissed } }: MessageEvent<Broadcast>) => {
    if (wanted) {
      const { id } = wanted;
      const known = tabs.get(id);
      if (!isLeader || known?.version === wanted.version) return;
      removeTab(known);
      wanted.isNew = true;
      tabs.set(id, wanted);
      for (const subscription of wanted.subscriptions) listeners.add({ ...subscription, tab: wanted });
      if (!known) request(id, () => removeTab(tabs.get(id)) && restart(MERGE_MS));
      if (document.hidden) sendHeartbeat(); // a visible tab replaces this one
      restart(MERGE_MS);
      return;
    }
    heardAt = performance.now();
    // Frames of displays follow the version of a request. The connection of an earlier leader has another one.
    const taken = isCurrent && !isLeader ? frames : frames?.filter(({ event }) => !event);
    if (taken && isServed && receive(taken)) restart();
    if (dismissed === me.id) leaveUnlessLeft();
    if (!beat) return;
    const [isHidden, served, positions] = beat;
    isLeaderHidden = isHidden;
    if (!served?.includes(me.id + me.version)) want();
    else if (!isLeader) {
      isServed = isCurrent = true;
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
  me.id = "";
  me.version = 0;
  request(id, () => {
    me.id = id;
    restart();
    return left;
  });
  lead({ signal });
  if (isFirst) lead({ steal: true });

  return {
    get isFollower() {
      return !isLeader;
    },
    want() {
      me.version++;
      return want();
    },
    complete(request) {
      request.tabs = [me, ...tabs.values()];
      const all = [ownDisplays(), ...[...tabs.values()].map(({ displays = [] }) => displays)].flat();
      for (const { member, token } of all) request.tokens[member] = [...new Set(request.tokens[member]).add(token)];
      return all.length;
    },
    announce(request) {
      openRequest = request;
      isServed = true;
      for (const tab of request.tabs ?? []) tab.isNew = false;
      sendHeartbeat();
    },
    passOn(frames) {
      if (tabs.size && frames.length) post({ frames });
      for (const tab of tabs.values()) if (!tab.isNew) for (const frame of frames) advanceDisplays(tab, frame);
    },
    dismiss() {
      const tab = [...tabs.values()].pop();
      if (tab) post({ dismissed: tab.id });
      return removeTab(tab);
    },
    leave: () => leaving.abort(),
  };
}
