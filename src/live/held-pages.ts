import type { PresenceMember, PresenceStore } from "../backends/index.ts";
import type { PagePlaces } from "./page-places.ts";
import { memberValue } from "./presence-list.ts";
import type { VerifiedPresence } from "./presence-token.ts";

/** How long a page whose event stream has ended is present, and one whose poll was answered: it comes back within that time. */
export const STREAM_GRACE_MS = 15_000;
export const POLL_GRACE_MS = 60_000;

/** How many page loads of one client this process makes present in a channel. With more, it could keep all processes busy. */
export const MAX_PAGES_PER_CLIENT = 100;

/** Who has loaded a page. */
export interface PageOwner {
  /** Its user, or the address of a signed-out client. */
  readonly client: string;
  /** Calls `onEnded` when the sign-in ends. @returns a function that ends this */
  watchEnd(onEnded: () => void): () => void;
}

/** A page load whose connections this process has, or had a moment ago. */
interface HeldPage {
  readonly member: VerifiedPresence;
  readonly client: string;
  readonly value: string;
  /** One object for each, so that the end of one from before the page left does not count for a later one. */
  readonly connections: Set<object>;
  /** When it leaves, by `performance.now`; `null` while it has a connection. */
  leavesAtMs: number | null;
  /** What the bus has to do: cleared when it is done. */
  pending: "put" | "remove" | null;
  /** The operation of the bus in progress. */
  settling: Promise<void> | null;
  /** Ends the watch of its sign-in: it may end while the page has no connection, as between two polls. */
  unwatchSignIn: () => void;
  /** Gives up its place among those of its client. */
  readonly releasePlace: (() => void) | null;
}

/** The options of {@link HeldPages}. */
export interface HeldPagesOptions {
  readonly channel: string;
  readonly store: PresenceStore;
  /** Identifies this process. */
  readonly holder: string;
  readonly places: PagePlaces;
  /** Resolves when the channel is watched: nothing is stored before. */
  start(): Promise<void>;
  /** Whether the lease of this process has ended: a page whose connection ends then has left. */
  isLeaseLost(): boolean;
  /** Called when an operation of the bus failed. It will be retried. */
  onBusFailure(error: unknown): void;
}

/** The pages of one channel that this process has connections of: it stores them in the bus, and decides when they leave. */
export class HeldPages {
  readonly #options: HeldPagesOptions;
  /** By their ids. */
  readonly #held = new Map<string, HeldPage>();
  /** The number of page loads held, by client. */
  readonly #counts = new Map<string, number>();
  /** The removals of {@link removeOrphans} in progress, by the ids of the pages. */
  readonly #removals = new Map<string, Promise<void>>();
  #isClosed = false;

  constructor(options: HeldPagesOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#held.size;
  }

  /**
   * Adds a connection of a page. Above {@link MAX_PAGES_PER_CLIENT}, the page is not present.
   *
   * @returns a function to call when the connection has ended: if it is the last one, the page leaves after a time
   */
  hold(member: VerifiedPresence, owner: PageOwner): (graceMs: number) => void {
    const { client } = owner;
    const current = this.#held.get(member.id);
    if (!current && (this.#counts.get(client) ?? 0) >= MAX_PAGES_PER_CLIENT) return () => undefined;
    if (!current) this.#count(client, 1);
    const held: HeldPage = current ?? {
      ...{ member, client, value: memberValue(member), connections: new Set() },
      ...{ leavesAtMs: null, pending: null, settling: null, unwatchSignIn: () => undefined },
      releasePlace: this.#options.places.take(client, this.#options.channel, member.id),
    };
    this.#held.set(member.id, held);
    const connection = {};
    held.connections.add(connection);
    held.leavesAtMs = null;
    held.unwatchSignIn(); // the cookie may have been renewed
    held.unwatchSignIn = owner.watchEnd(() => this.#remove(held));
    // Also if it is stored already: another process may have replaced it, without this one knowing yet.
    this.#want(held, "put");
    return (graceMs) => {
      if (!held.connections.delete(connection) || held.connections.size > 0) return;
      held.leavesAtMs = performance.now() + (this.#options.isLeaseLost() ? 0 : graceMs);
    };
  }

  /** Removes the pages of a sign-in at once. */
  removeSignIn(tag: string): void {
    for (const held of this.#held.values()) if (held.member.tag === tag) this.#remove(held);
  }

  /** Removes a page at once, if this process holds it. */
  leaveNow(id: string): void {
    const held = this.#held.get(id);
    if (held) this.#remove(held);
  }

  /** Does not hold a page any more, which has left itself. */
  forget(id: string): void {
    const held = this.#held.get(id);
    if (!held) return;
    this.#held.delete(id);
    held.unwatchSignIn();
    held.releasePlace?.();
    this.#count(held.client, -1);
  }

  /** Called once a second. */
  tick(nowMs: number): void {
    for (const held of this.#held.values()) {
      if (held.leavesAtMs !== null && nowMs >= held.leavesAtMs && held.pending !== "remove") this.#remove(held);
      else if (held.pending) this.#settle(held);
    }
  }

  /** Returns the ids of those that have a connection here and are not stored, of the ids that are. */
  missingFrom(stored: ReadonlySet<string>): readonly string[] {
    return [...this.#held.values()]
      .filter(({ member, leavesAtMs, pending }) => !stored.has(member.id) && leavesAtMs === null && pending === null)
      .map(({ member }) => member.id);
  }

  /**
   * Stores a page again, unless another process has it, or it has left since it was found to be missing. If it leaves meanwhile,
   * it is removed afterwards: a removal at the same time could come first, and the page would stay in the list.
   */
  async restore(id: string, state: string | undefined): Promise<void> {
    const held = this.#held.get(id);
    if (this.#isClosed || !held || held.leavesAtMs !== null || held.settling) return;
    const { channel, store, holder } = this.#options;
    const storing = store.put(channel, { id, holder, value: held.value, state }, { ifAbsent: true });
    held.settling = storing
      .catch(() => undefined) // the caller handles it
      .then(() => this.#settleNow(held))
      .finally(() => {
        held.settling = null;
      });
    await storing;
  }

  /**
   * Removes the members that this process has stored and does not hold, of those that are stored, and returns the others. The bus may
   * store a page after its removal: if the page reports to another process that it is left while it is being stored, and if a NATS
   * cluster stores a message that it has not confirmed. Nobody else would remove it as long as this process lives.
   */
  async removeOrphans(stored: readonly PresenceMember[]): Promise<readonly PresenceMember[]> {
    const { channel, store, holder } = this.#options;
    const orphans = stored.filter((member) => member.holder === holder && !this.#held.has(member.id));
    if (orphans.length === 0) return stored;
    const removed = new Set<PresenceMember>();
    for (const orphan of orphans) {
      if (this.#isClosed) break; // a new room of this process may store the next one
      const { id } = orphan;
      if (this.#held.has(id)) continue; // it has connected since
      const removal = store.remove(channel, id, holder).finally(() => this.#removals.delete(id));
      this.#removals.set(id, removal);
      await removal;
      removed.add(orphan);
    }
    return stored.filter((member) => !removed.has(member));
  }

  /** Ends the watches of all sign-ins, gives up all places, and restores and removes no more pages that a read has shown. */
  close(): void {
    this.#isClosed = true;
    for (const { unwatchSignIn, releasePlace } of this.#held.values()) {
      unwatchSignIn();
      releasePlace?.();
    }
  }

  #remove(held: HeldPage): void {
    held.connections.clear();
    held.leavesAtMs = performance.now();
    this.#want(held, "remove");
  }

  #count(client: string, difference: number): void {
    const count = (this.#counts.get(client) ?? 0) + difference;
    if (count > 0) this.#counts.set(client, count);
    else this.#counts.delete(client);
  }

  #want(held: HeldPage, pending: "put" | "remove"): void {
    held.pending = pending;
    this.#settle(held);
  }

  /** Does what the bus has to do for a page. What fails is retried by the next tick. */
  #settle(held: HeldPage): void {
    held.settling ??= this.#settleNow(held).finally(() => {
      held.settling = null;
    });
  }

  async #settleNow(held: HeldPage): Promise<void> {
    const { channel, store, holder, start, onBusFailure } = this.#options;
    const { id } = held.member;
    try {
      await start();
      await this.#removals.get(id); // it would remove a page that is stored meanwhile
      while (held.pending && this.#held.get(id) === held) {
        const { pending } = held;
        held.pending = null;
        try {
          if (pending === "put") await store.put(channel, { id, holder, value: held.value });
          else await store.remove(channel, id, holder);
        } catch (error) {
          held.pending ??= pending;
          throw error;
        }
        if (pending === "remove" && held.pending === null && held.leavesAtMs !== null) this.forget(id);
      }
    } catch (error) {
      onBusFailure(error);
    }
  }
}
