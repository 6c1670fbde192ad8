/**
 * Processes with a room of presence on one store, whose clock and faults a test controls.
 */
import { vi } from "vitest";
import { type Bus, memory, type PresenceStore } from "../../src/backends/index.ts";
import type { PageOwner } from "../../src/live/held-pages.ts";
import { PagePlaces } from "../../src/live/page-places.ts";
import { PresenceRoom } from "../../src/live/presence-room.ts";
import type { VerifiedPresence } from "../../src/live/presence-token.ts";
import type { PresenceFrame } from "../../src/protocol/index.ts";

/** Replaces the clock of the processes. */
export function useRoomClock(): void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "performance", "Date"] });
}

/** Closes the rooms that a test has created, and restores the clock. */
export async function closeRooms(): Promise<void> {
  for (const room of rooms.splice(0)) await room.close();
  vi.useRealTimers();
}

const rooms: PresenceRoom[] = [];
let ids = 0;

/** Returns a page load of a user. */
export function memberOf(user: string, tag = `tag of ${user}`): VerifiedPresence {
  const id = `page${++ids}`;
  return { channel: "room", id, user, data: "null", tag, issuedAt: 1, expiresAt: 2, expired: false };
}

/**
 * Adds a connection of a page to a room.
 *
 * @param owner by default one that has no other page, and whose sign-in does not end
 */
export function holdPage(room: PresenceRoom, member: VerifiedPresence, owner = unknownOwner(member)) {
  return room.pages.hold(member, owner);
}

function unknownOwner({ id }: VerifiedPresence): PageOwner {
  return { client: id, watchEnd: () => () => undefined };
}

/** A store whose faults a test controls, on a bus that several processes share. */
export function faultyStore(inner: PresenceStore) {
  const faults = { isUnreachable: false, /** How long it takes to store a page again. */ restoreMs: 0 };
  /** The operations that wait, by their names and the ids of pages. Each is called when the operation begins. */
  const heldBack = new Map<string, () => Promise<void>>();
  /** Lets an operation on a page wait. @returns a promise that resolves when it has begun, and a function that ends the wait */
  const holdBack = (operation: "put" | "remove", id: string) => {
    let begin = () => {};
    let resume = () => {};
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const waiting = new Promise<void>((resolve) => (resume = resolve));
    heldBack.set(`${operation} ${id}`, () => {
      begin();
      return waiting;
    });
    return { begun, resume };
  };
  const use = () => {
    if (faults.isUnreachable) throw new Error("The bus is unreachable.");
    return inner;
  };
  const store: PresenceStore = {
    watch: async (...args) => use().watch(...args),
    renew: async (...args) => use().renew(...args),
    isEmpty: async (...args) => use().isEmpty(...args),
    read: async (...args) => use().read(...args),
    put: async (channel, entry, options) => {
      if (options?.ifAbsent) await new Promise((resolve) => setTimeout(resolve, faults.restoreMs));
      await heldBack.get(`put ${entry.id}`)?.();
      await use().put(channel, entry, options);
    },
    remove: async (channel, id, holder) => {
      await heldBack.get(`remove ${id}`)?.();
      await use().remove(channel, id, holder);
    },
    setState: async (...args) => use().setState(...args),
  };
  return { store, faults, holdBack };
}

/** One process with a room, whose clock the test advances. */
export function createProcess(inner: PresenceStore, holder: string, channel = "room") {
  const { store, faults, holdBack } = faultyStore(inner);
  const room = new PresenceRoom(channel, {
    ...{ store, holder, places: new PagePlaces() },
    ...{ isReachable: () => true, onBusFailure: () => undefined },
  });
  rooms.push(room);
  const frames: PresenceFrame[] = [];
  const viewer = { receive: (_: unknown, { json }: { json: string }) => void frames.push(JSON.parse(json)) };
  room.addViewer(viewer, undefined);
  return {
    room,
    faults,
    holdBack,
    frames,
    viewer,
    isFrozen: false,
    get users() {
      return [...room.list.entries.keys()].map((id) => id.slice(2));
    },
  };
}

export type Process = ReturnType<typeof createProcess>;

/** Advances the time, and ticks the processes once a second. */
export async function advance(ms: number, ...processes: readonly Process[]): Promise<void> {
  for (let at = 0; at < ms; at += 1_000) {
    await vi.advanceTimersByTimeAsync(Math.min(1_000, ms - at));
    for (const { room, isFrozen } of processes) if (!isFrozen) room.tick(performance.now());
    await vi.advanceTimersByTimeAsync(0);
  }
}

/** Returns the store of a bus: by default of a new one in memory. */
export function storeOf({ presence }: Bus = memory()): PresenceStore {
  if (presence) return presence;
  throw new Error("The bus does not store who is present.");
}
