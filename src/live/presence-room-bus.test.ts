import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  advance,
  closeRooms,
  createProcess,
  faultyStore,
  holdPage,
  memberOf,
  storeOf,
  useRoomClock,
} from "#test/room-processes";
import { memory, type PresenceStore } from "../backends/index.ts";
import { POLL_GRACE_MS, STREAM_GRACE_MS } from "./held-pages.ts";
import { memberValue } from "./presence-list.ts";
import { LEASE_MS, RECOVERY_MS } from "./presence-room.ts";
import { PresenceRooms } from "./presence-rooms.ts";

beforeEach(useRoomClock);
afterEach(closeRooms);

describe("PresenceRoom: if its bus or its process fails for a while", () => {
  it("does not store a page again that leaves while a process that was frozen stores its pages again", async () => {
    const store = storeOf();
    const [first, second] = [createProcess(store, "first"), createProcess(store, "second")];
    const pages = ["alice", "bob", "carol"].map((user) => memberOf(user));
    const [releaseAlice, releaseBob] = pages.map((page) => holdPage(first.room, page));
    await advance(5_000, first, second);
    first.isFrozen = true;
    await advance(75_000, first, second);
    expect(second.users).toEqual([]);
    first.isFrozen = false;
    first.faults.restoreMs = 2_000;
    first.room.tick(performance.now());
    holdPage(second.room, memberOf("dave")); // a change, so that the first process reads the members: all of its own are missing
    await advance(200, second);
    releaseAlice?.(STREAM_GRACE_MS); // she is being stored again
    releaseBob?.(STREAM_GRACE_MS); // he would be next
    await advance(30_000, first, second);
    expect([first.users, second.users]).toEqual([
      ["carol", "dave"],
      ["carol", "dave"],
    ]);
  });

  it("does not store a page again whose sign-in ends while it is being stored again", async () => {
    const store = storeOf();
    const [first, second] = [createProcess(store, "first"), createProcess(store, "second")];
    const pages = ["alice", "bob"].map((user) => memberOf(user));
    for (const page of pages) holdPage(first.room, page);
    await advance(1_000, first, second);
    first.faults.restoreMs = 2_000;
    for (const { id } of pages) await store.remove("room", id, "first"); // the bus has lost them
    await advance(1_000, first, second);
    for (const user of ["alice", "bob"]) first.room.pages.removeSignIn(`tag of ${user}`);
    await advance(30_000, first, second);
    expect([first.users, second.users]).toEqual([[], []]);
  });

  it("keeps the last list, stale, while the bus is unreachable, and nobody leaves until all have renewed their leases", async () => {
    const store = storeOf();
    const [first, second] = [createProcess(store, "first"), createProcess(store, "second")];
    const gone = memberOf("gone");
    holdPage(first.room, memberOf("alice"));
    const release = holdPage(first.room, gone);
    holdPage(second.room, memberOf("bob"));
    await advance(5_000, first, second);
    first.faults.isUnreachable = second.faults.isUnreachable = true;
    await advance(12_000, first, second);
    expect(second.frames.at(-1)).toMatchObject({ stale: true });
    const { length } = second.frames;
    release(STREAM_GRACE_MS);
    await advance(600_000, first, second);
    expect(second.frames.slice(length)).toEqual([]);
    expect(second.users).toEqual(["alice", "bob", "gone"]);
    second.faults.isUnreachable = false;
    await advance(5_000, first, second); // the other process connects later
    expect(second.users).toEqual(["alice", "bob", "gone"]);
    first.faults.isUnreachable = false;
    await advance(RECOVERY_MS, first, second);
    expect(second.users).toEqual(["alice", "bob"]);
    expect(second.frames.at(-1)).not.toHaveProperty("stale");
    expect(second.frames.flatMap(({ del = [] }) => del)).toEqual(["u:gone"]);
  });

  it("removes a page that has reported that it is left while the bus was unreachable", async () => {
    const bus = memory();
    const { store, faults } = faultyStore(storeOf(bus));
    const process = new PresenceRooms({ bus, store, log: { info() {}, warn() {}, error() {} } });
    const room = process.open("room");
    const page = memberOf("alice");
    const release = holdPage(room, page);
    holdPage(room, memberOf("bob"));
    await vi.advanceTimersByTimeAsync(5_000);
    faults.isUnreachable = true;
    await expect(process.leave("room", page.id)).rejects.toThrow("unreachable");
    release(STREAM_GRACE_MS);
    await vi.advanceTimersByTimeAsync(5_000);
    faults.isUnreachable = false;
    await vi.advanceTimersByTimeAsync(RECOVERY_MS + STREAM_GRACE_MS);
    expect((await store.read("room")).map(({ id }) => id)).not.toContain(page.id);
    expect([...room.list.entries.keys()]).toEqual(["u:bob"]);
    await process.close();
  });

  it("stores its pages again, and removes nobody, if the bus has lost its data", async () => {
    let inner = storeOf();
    const lost: PresenceStore = {
      watch: (...args) => inner.watch(...args),
      renew: (...args) => inner.renew(...args),
      isEmpty: (...args) => inner.isEmpty(...args),
      read: (...args) => inner.read(...args),
      put: (...args) => inner.put(...args),
      remove: (...args) => inner.remove(...args),
      setState: (...args) => inner.setState(...args),
    };
    const [first, second] = [createProcess(lost, "first"), createProcess(lost, "second")];
    const alice = memberOf("alice");
    holdPage(first.room, alice);
    holdPage(second.room, memberOf("bob"));
    await advance(1_000, first, second);
    await inner.setState("room", alice.id, '"typing"');
    await advance(1_000, first, second);
    inner = storeOf();
    for (const holder of ["first", "second"]) {
      await inner.watch("room", { holder, leaseMs: LEASE_MS, listener: () => undefined });
    }
    await advance(40_000, first, second);
    for (const { frames, room } of [first, second]) {
      expect(frames.flatMap(({ del = [] }) => del)).toEqual([]);
      expect(JSON.parse(room.fullFrame.json)).toMatchObject({
        all: [{ user: "alice", state: "typing" }, { user: "bob" }],
      });
      expect(room.list.stale).toBe(false);
    }
  });

  it("removes a page that has reported to another process that it is left, while its own process was storing it", async () => {
    const store = storeOf();
    const [first, second] = [createProcess(store, "first"), createProcess(store, "second")];
    const [alice, bob] = [memberOf("alice"), memberOf("bob")];
    for (const page of [alice, bob]) holdPage(first.room, page);
    await advance(1_000, first, second);
    const storing = first.holdBack("put", alice.id);
    holdPage(first.room, alice); // a second connection, such as that of the next poll
    await storing.begun;
    await store.remove("room", alice.id, null); // by the second process
    await advance(200, first, second);
    storing.resume();
    await advance(1_000, first, second);
    expect([first.users, second.users]).toEqual([["bob"], ["bob"]]);
    expect((await store.read("room")).map(({ id }) => id)).toEqual([bob.id]);
  });

  it("removes a page that the bus has stored after it was removed", async () => {
    const store = storeOf();
    const [first, second] = [createProcess(store, "first"), createProcess(store, "second")];
    const [alice, bob] = [memberOf("alice"), memberOf("bob")];
    for (const page of [alice, bob]) holdPage(first.room, page);
    await advance(1_000, first, second);
    const [entry] = await store.read("room");
    first.room.pages.leaveNow(alice.id);
    await advance(1_000, first, second);
    expect(second.users).toEqual(["bob"]);
    await store.put("room", { id: alice.id, holder: "first", value: entry?.value ?? "" });
    await advance(1_000, first, second);
    expect([first.users, second.users]).toEqual([["bob"], ["bob"]]);
    expect((await store.read("room")).map(({ id }) => id)).toEqual([bob.id]);
  });

  it("keeps a page that comes back while it is being removed, since it was stored after its removal", async () => {
    const store = storeOf();
    const [first, second] = [createProcess(store, "first"), createProcess(store, "second")];
    const alice = memberOf("alice");
    holdPage(first.room, memberOf("bob"));
    await advance(1_000, first, second);
    const removing = first.holdBack("remove", alice.id);
    await store.put("room", { id: alice.id, holder: "first", value: memberValue(alice) });
    await advance(1_000, first, second);
    await removing.begun;
    holdPage(first.room, alice);
    await advance(200, first, second);
    const { length } = second.frames;
    removing.resume();
    await advance(30_000, first, second);
    expect([first.users, second.users]).toEqual([
      ["alice", "bob"],
      ["alice", "bob"],
    ]);
    expect(second.frames.slice(length).flatMap(({ del = [] }) => del)).toEqual([]);
  });

  it("removes and stores no more pages, and does not renew its lease, once it is closed", async () => {
    const store = storeOf();
    const [process] = [createProcess(store, "first"), createProcess(store, "second")];
    const [alice, bob, carol] = [memberOf("alice"), memberOf("bob"), memberOf("carol")];
    holdPage(process.room, alice);
    await advance(1_000, process);
    const removing = process.holdBack("remove", bob.id);
    await store.remove("room", alice.id, "first"); // the bus has lost her
    for (const page of [bob, carol]) {
      await store.put("room", { id: page.id, holder: "first", value: memberValue(page) }); // after they were removed
    }
    await advance(1_000, process);
    await removing.begun;
    const { length } = process.frames;
    await process.room.close();
    const [renewals, puts] = [vi.spyOn(store, "renew"), vi.spyOn(store, "put")];
    removing.resume();
    await advance(30_000);
    expect([renewals.mock.calls, puts.mock.calls]).toEqual([[], []]);
    expect(process.frames.slice(length)).toEqual([]);
    await store.renew("room", "first", LEASE_MS);
    expect((await store.read("room")).map(({ id }) => id)).toEqual([carol.id]); // a new room of the process may hold her
  });

  it("stores no more of the pages that the bus has lost, once it is closed", async () => {
    const store = storeOf();
    const [process] = [createProcess(store, "first"), createProcess(store, "second")];
    const pages = ["alice", "bob"].map((user) => memberOf(user));
    for (const page of pages) holdPage(process.room, page);
    await advance(1_000, process);
    process.faults.restoreMs = 2_000;
    for (const { id } of pages) await store.remove("room", id, "first");
    await advance(1_000, process); // the first one is being stored again
    const { length } = process.frames;
    await process.room.close();
    await advance(10_000);
    expect((await store.read("room")).map(({ id }) => id)).toEqual([pages[0]?.id]);
    expect(process.frames.slice(length)).toEqual([]);
  });

  it("leaves the pages of other processes alone, and its own ones that have no connection for a moment", async () => {
    const store = storeOf();
    const [first, second] = [createProcess(store, "first"), createProcess(store, "second")];
    const removals = vi.spyOn(store, "remove");
    const release = holdPage(first.room, memberOf("alice"));
    holdPage(second.room, memberOf("bob"));
    await advance(1_000, first, second);
    release(POLL_GRACE_MS);
    await advance(50_000, first, second);
    expect([first.users, second.users]).toEqual([
      ["alice", "bob"],
      ["alice", "bob"],
    ]);
    expect(removals).not.toHaveBeenCalled();
  });
});
