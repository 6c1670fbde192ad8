import type { PresenceMember, PresenceStore } from "../backends/index.ts";
import { HeldPages } from "./held-pages.ts";
import type { PagePlaces } from "./page-places.ts";
import { diffFrame, Frame, fullFrame, listOf, type PresenceList, UNKNOWN_LIST } from "./presence-list.ts";

/** How long the members of a process count after it has renewed its lease for the last time, and how often it does. */
export const LEASE_MS = 60_000;
const RENEW_MS = 20_000;

/** How long its members count after it has stopped normally: their pages connect to another process meanwhile. */
const STOPPED_LEASE_MS = 20_000;

/** How often the members are read although nothing has changed: the end of a lease is no change. */
const READ_MS = 10_000;

/** Above this number of people, frames are sent at most once a second; otherwise ten times. */
export const MANY_PEOPLE = 50;
const FRAME_MS = 100;
const MANY_PEOPLE_FRAME_MS = 1_000;

/** How long no frame is sent after one, for each page load: for every frame, every process reads all of them from the bus. */
const FRAME_MS_PER_PAGE = 0.2;

/** How often the members are read while the bus is unreachable. */
const RETRY_MS = 2_000;

/** How long nobody leaves after the bus was unreachable: every process has renewed its lease by then. */
export const RECOVERY_MS = 10_000;

/** How long a channel without pages is watched. */
const IDLE_MS = 30_000;

/** Receives the frames of a channel. */
export interface PresenceViewer {
  /** Called with each frame of a room that it was added to; with `null` in place of the room for a token that has ended. */
  receive(room: PresenceRoom | null, frame: Frame): void;
}

/** The options of a {@link PresenceRoom}. */
export interface PresenceRoomOptions {
  readonly store: PresenceStore;
  /** Identifies this process. */
  readonly holder: string;
  /** The places of all channels of this process. */
  readonly places: PagePlaces;
  /** Returns false while the bus is known to be unreachable. */
  isReachable(): boolean;
  /** Called when an operation of the bus failed. It will be retried. */
  onBusFailure(error: unknown): void;
}

/**
 * Who is present in one channel, in this process: the pages that it has connections of, which it stores in the bus, and the list
 * of all, which it reads from there.
 *
 * All decisions of when somebody has left are made by the process that has the connection, or else by the lease of that process
 * in the bus. No clocks are compared.
 */
export class PresenceRoom {
  readonly channel: string;
  readonly #options: PresenceRoomOptions;
  readonly #viewers = new Set<PresenceViewer>();
  /** The pages that this process has connections of. */
  readonly pages: HeldPages;
  #members: ReadonlyMap<string, PresenceMember> = new Map();
  #list = UNKNOWN_LIST;
  #full: Frame | null = null;
  #isReady = false;
  #isClosed = false;
  #starting: Promise<void> | null = null;
  #reading: Promise<void> | null = null;
  #unwatch: (() => void) | null = null;
  /** Whether the members may have changed since the last read. */
  #isDirty = true;
  #timer: NodeJS.Timeout | undefined;
  #lastReadMs = Number.NEGATIVE_INFINITY;
  #lastRenewMs = Number.NEGATIVE_INFINITY;
  /** Whether a tick has found that the lease has ended: the process was frozen. */
  #isLeaseLost = false;
  /** Until when nobody leaves, by `performance.now`. */
  #recoversUntilMs = Number.NEGATIVE_INFINITY;
  #lastUsedMs = performance.now();

  constructor(channel: string, options: PresenceRoomOptions) {
    this.channel = channel;
    this.#options = options;
    const { store, holder, places } = options;
    this.pages = new HeldPages({
      ...{ channel, store, holder, places },
      start: () => this.#start(),
      isLeaseLost: () => this.#isLeaseLost,
      onBusFailure: (error) => {
        if (!this.#isClosed) options.onBusFailure(error);
      },
    });
  }

  /** The list, as it was read last. */
  get list(): PresenceList {
    return this.#list;
  }

  /** Whether nobody in this process needs it any more. */
  get isIdle(): boolean {
    const isUsed = this.#viewers.size > 0 || this.pages.size > 0;
    if (isUsed) this.#lastUsedMs = performance.now();
    return performance.now() - this.#lastUsedMs >= IDLE_MS;
  }

  /** Returns the frame with the whole list. */
  get fullFrame(): Frame {
    this.#full ??= new Frame(this.channel, fullFrame(this.#list));
    return this.#full;
  }

  /** Whether the list was read at least once. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Resolves when the list was read once, or that has failed. Never rejects. */
  async whenReady(): Promise<void> {
    this.#lastUsedMs = performance.now();
    if (!this.#isReady) await this.#read();
  }

  /** Passes all frames to a viewer from now on: at first the whole list, unless the viewer has it. */
  addViewer(viewer: PresenceViewer, version: string | undefined): void {
    this.#viewers.add(viewer);
    if (this.#isReady && version !== this.#list.version) viewer.receive(this, this.fullFrame);
    if (!this.#isReady) void this.#read();
  }

  removeViewer(viewer: PresenceViewer): void {
    this.#viewers.delete(viewer);
    this.#lastUsedMs = performance.now();
  }

  /** Called once a second. */
  tick(nowMs: number): void {
    if (nowMs - this.#lastRenewMs >= LEASE_MS && this.#unwatch && !this.#list.stale && !this.#isLeaseLost) {
      // The process was frozen. Connections that were closed meanwhile are closed before the lease is renewed.
      this.#isLeaseLost = true;
      return;
    }
    this.#isLeaseLost = false;
    this.pages.tick(nowMs);
    if (!this.#options.isReachable()) this.#failed();
    if (nowMs - this.#lastRenewMs >= RENEW_MS) void this.#renew();
    const readAfterMs = this.#list.stale ? RETRY_MS : READ_MS;
    if (nowMs - this.#lastReadMs >= readAfterMs) void this.#read();
  }

  /** Ends it, at the end of the process or because nobody needs it. Its members are replaced by other processes, or leave. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.pages.close();
    const { store, holder } = this.#options;
    // If it fails, the lease ends later.
    if (this.pages.size > 0) await store.renew(this.channel, holder, STOPPED_LEASE_MS).catch(() => undefined);
    this.#unwatch?.();
  }

  #start(): Promise<void> {
    if (this.#unwatch) return Promise.resolve();
    this.#starting ??= this.#watch().finally(() => {
      this.#starting = null;
    });
    return this.#starting;
  }

  async #watch(): Promise<void> {
    const { store, holder } = this.#options;
    const unwatch = await store.watch(this.channel, { holder, leaseMs: LEASE_MS, listener: this.#changed });
    if (this.#isClosed) return unwatch();
    this.#unwatch = unwatch;
    this.#lastRenewMs = performance.now();
  }

  async #renew(): Promise<void> {
    if (!this.#unwatch) return;
    const { store, holder, onBusFailure } = this.#options;
    const before = this.#lastRenewMs;
    this.#lastRenewMs = performance.now();
    try {
      await store.renew(this.channel, holder, LEASE_MS);
    } catch (error) {
      if (this.#isClosed) return;
      this.#lastRenewMs = before; // the next tick tries again
      this.#failed();
      onBusFailure(error);
    }
  }

  readonly #changed = (removedId?: string): void => {
    if (this.#isClosed) return;
    if (removedId !== undefined) this.pages.forget(removedId);
    this.#isDirty = true;
    this.#scheduleRead();
  };

  /** Reads the members soon: at once if the last time was long ago, so that frames are sent not too often. */
  #scheduleRead(): void {
    if (this.#timer || this.#reading) return;
    const leastMs = this.#list.entries.size > MANY_PEOPLE ? MANY_PEOPLE_FRAME_MS : FRAME_MS;
    const intervalMs = Math.max(leastMs, this.#members.size * FRAME_MS_PER_PAGE);
    const delayMs = Math.max(0, this.#lastReadMs + intervalMs - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#read();
    }, delayMs).unref();
  }

  #read(): Promise<void> {
    this.#reading ??= this.#readNow().finally(() => {
      this.#reading = null;
      if (this.#isDirty && !this.#isClosed && !this.#list.stale) this.#scheduleRead();
    });
    return this.#reading;
  }

  async #readNow(): Promise<void> {
    try {
      await this.#start();
      this.#isDirty = false;
      this.#lastReadMs = performance.now();
      const stored = await this.#options.store.read(this.channel);
      if (this.#isClosed) return;
      const members = await this.pages.removeOrphans(stored);
      if (this.#isClosed) return; // to renew the lease now would undo the shorter one of close()
      await this.#restoreMissing(members);
      if (this.#isClosed) return;
      this.#show(members);
    } catch (error) {
      this.#lastReadMs = performance.now();
      if (this.#isClosed) return;
      this.#failed();
      this.#options.onBusFailure(error);
    }
  }

  /** Stores the pages again that have a connection here and are not stored: the bus has lost them, or another process has. */
  async #restoreMissing(members: readonly PresenceMember[]): Promise<void> {
    const stored = new Set(members.map(({ id }) => id));
    const { store, holder } = this.#options;
    const missing = this.pages.missingFrom(stored);
    if (missing.length === 0) return;
    this.#isDirty = true;
    // Nobody leaves if the bus has lost everything: the other processes store theirs again, too.
    const hasLostAll = missing.length === this.pages.size && missing.some((id) => this.#members.has(id));
    if (hasLostAll) this.#recoversUntilMs = Number.POSITIVE_INFINITY;
    await store.renew(this.channel, holder, LEASE_MS); // the lease may be lost too
    for (const id of missing) await this.pages.restore(id, this.#members.get(id)?.state?.json);
  }

  #failed(): void {
    this.#recoversUntilMs = Number.POSITIVE_INFINITY;
    if (!this.#list.stale) this.#send(listOf(this.#members.values(), true));
  }

  /** Takes over the members that were read. After a failure, those that are missing stay for a while. */
  #show(members: readonly PresenceMember[]): void {
    const now = performance.now();
    const wasReady = this.#isReady;
    const hadFailed = this.#recoversUntilMs === Number.POSITIVE_INFINITY;
    if (hadFailed) this.#recoversUntilMs = wasReady ? now + RECOVERY_MS : now;
    const isRecovering = now < this.#recoversUntilMs;
    const byId = new Map(isRecovering ? this.#members : []);
    for (const member of members) byId.set(member.id, member);
    this.#members = byId;
    this.#isReady = true;
    const list = listOf(byId.values(), isRecovering);
    if (!wasReady) this.#sendFull(list);
    else if (list.version !== this.#list.version) this.#send(list);
  }

  #sendFull(list: PresenceList): void {
    this.#list = list;
    this.#full = null;
    for (const viewer of this.#viewers) viewer.receive(this, this.fullFrame);
  }

  #send(list: PresenceList): void {
    const frame = new Frame(this.channel, diffFrame(this.#list, list));
    this.#list = list;
    this.#full = null;
    for (const viewer of this.#viewers) viewer.receive(this, frame);
  }
}
