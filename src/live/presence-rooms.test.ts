import { afterEach, expect, it, vi } from "vitest";
import { recordedLog } from "#test/recorded-log";
import { storeOf } from "#test/room-processes";
import { type EntryListener, memory } from "../backends/index.ts";
import { PresenceRooms, SIGN_OUTS } from "./presence-rooms.ts";

const opened: PresenceRooms[] = [];
afterEach(async () => {
  for (const rooms of opened.splice(0)) await rooms.close();
});

function createRooms(bus = memory()) {
  const { log, lines } = recordedLog();
  const store = storeOf(bus);
  const rooms = new PresenceRooms({ bus, store, log });
  opened.push(rooms);
  return { rooms, store, lines, bus };
}

const owner = { client: "u:alice", watchEnd: () => () => undefined };
const member = { channel: "room", id: "page", user: "alice", data: "null", tag: "tag", issuedAt: 1, expiresAt: 2 };

it("watches a channel for its list only if somebody is there", async () => {
  const { rooms, store, bus } = createRooms();
  const watch = vi.spyOn(store, "watch");
  for (let at = 0; at < 100; at++) {
    expect(await rooms.read(`room ${at}`)).toMatchObject({ stale: false, entries: new Map() });
  }
  expect(watch).not.toHaveBeenCalled();
  const { rooms: other } = createRooms(bus);
  other.hold({ ...member, expired: false }, owner);
  await expect.poll(() => store.isEmpty("room")).toBe(false);
  expect([...(await rooms.read("room")).entries.keys()]).toEqual(["u:alice"]);
  await rooms.read("room");
  expect(watch).toHaveBeenCalledTimes(2); // one of each process
});

it("returns a stale list while the bus is unreachable", async () => {
  const { rooms, store, lines } = createRooms();
  vi.spyOn(store, "isEmpty").mockRejectedValue(new Error("The bus is unreachable."));
  expect(await rooms.read("room")).toMatchObject({ stale: true, entries: new Map() });
  expect(rooms.lastList("room")).toMatchObject({ stale: true });
  expect(lines[0]?.message).toContain("Presence is out of date");
});

it("reads the sign-outs that it has missed while it was cut off from the bus", async () => {
  vi.useFakeTimers();
  try {
    const { rooms, store, bus } = createRooms();
    const signOut = (tag: string) => bus.publish(SIGN_OUTS, JSON.stringify(tag)); // in another process
    const listeners: EntryListener[] = [];
    const watch = bus.watch.bind(bus);
    const spy = vi.spyOn(bus, "watch").mockImplementation(async (channel, listener) => {
      if (!channel.startsWith("\u0000")) return watch(channel, listener);
      listeners.push(listener);
      return () => undefined;
    });
    await signOut("tag"); // before the page was there
    rooms.hold({ ...member, expired: false }, owner);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await store.isEmpty("room")).toBe(false);

    await signOut("another tag");
    await signOut("tag");
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await store.isEmpty("room")).toBe(false); // the process does not know of it
    vi.spyOn(bus, "read").mockRejectedValueOnce(new Error("The bus is unreachable."));
    listeners[0]?.();
    await vi.advanceTimersByTimeAsync(1_500);
    expect(await store.isEmpty("room")).toBe(false); // the bus did not respond; it is read again
    await vi.advanceTimersByTimeAsync(1_500);
    expect(await store.isEmpty("room")).toBe(true);
    expect(spy.mock.calls.filter(([channel]) => channel.startsWith("\u0000"))).toHaveLength(1);
  } finally {
    vi.useRealTimers();
  }
});
