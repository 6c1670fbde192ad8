import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { memory, type PresenceStore } from "../backends/index.ts";
import type { PresenceFrame } from "../protocol/index.ts";
import { MAX_PAGES_PER_CLIENT, POLL_GRACE_MS, STREAM_GRACE_MS } from "./held-pages.ts";
import { PagePlaces } from "./page-places.ts";
import { LEASE_MS, MANY_PEOPLE, PresenceRoom, RECOVERY_MS } from "./presence-room.ts";
import { PresenceRooms } from "./presence-rooms.ts";
import type { VerifiedPresence } from "./presence-token.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "performance", "Date"] });
});
afterEach(async () => {
  for (const room of rooms.splice(0)) await room.close();
  vi.useRealTimers();
});

const rooms: PresenceRoom[] = [];
let ids = 0;

function memberOf(user: string, tag = `tag of ${user}`): VerifiedPresence {
  const id = `page${++ids}`;
  return { channel: "room", id, user, data: "null", tag, issuedAt: 1, expiresAt: 2, expired: false };
}

/** A store whose faults a test controls, on a bus that several processes share. */
function faultyStore(inner: PresenceStore) {
  const faults = { isUnreachable: false, /** How long it takes to store a page again. */ restoreMs: 0 };
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
      await use().put(channel, entry, options);
    },
    remove: async (...args) => use().remove(...args),
    setState: async (...args) => use().setState(...args),
  };
  return { store, faults };
}

/** One process with a room, whose clock the test advances. */
function createProcess(inner: PresenceStore, holder: string) {
  const { store, faults } = faultyStore(inner);
  const room = new PresenceRoom("room", {
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
    frames,
    viewer,
    isFrozen: false,
    get users() {
      return [...room.list.entries.keys()].map((id) => id.slice(2));
    },
  };
}

type Process = ReturnType<typeof createProcess>;

/** Advances the time, and ticks the processes once a second. */
async function advance(ms: number, ...processes: readonly Process[]): Promise<void> {
  for (let at = 0; at < ms; at += 1_000) {
    await vi.advanceTimersByTimeAsync(Math.min(1_000, ms - at));
    for (const { room, isFrozen } of processes) if (!isFrozen) room.tick(performance.now());
    await vi.advanceTimersByTimeAsync(0);
  }
}

const storeOf = () => memory().presence as PresenceStore;

describe("PresenceRoom", () => {
  it("shows a page as long as it has a connection, and a while longer, in every process", async () => {
    const store = storeOf();
    const [first, second] = [createProcess(store, "first"), createProcess(store, "second")];
    const page = memberOf("alice");
    const release = first.room.hold(page);
    await advance(200, first, second);
    expect([first.users, second.users]).toEqual([["alice"], ["alice"]]);
    await advance(300_000, first, second);
    expect(second.users).toEqual(["alice"]);
    release(STREAM_GRACE_MS);
    await advance(STREAM_GRACE_MS - 2_000, first, second);
    expect(second.users).toEqual(["alice"]);
    await advance(4_000, first, second);
    expect([first.users, second.users]).toEqual([[], []]);
  });

  it("keeps a page that has left and connected again, when a connection of before ends", async () => {
    const store = storeOf();
    const process = createProcess(store, "first");
    const page = memberOf("alice");
    for (const leave of [
      async () => {
        process.room.forget(page.id);
        await store.remove("room", page.id, null);
      },
      () => process.room.removeSignIn("tag of alice"),
    ]) {
      const release = process.room.hold(page);
      await advance(1_000, process);
      await leave();
      await advance(1_000, process);
      expect(process.users).toEqual([]);
      process.room.hold(page);
      await advance(1_000, process);
      release(STREAM_GRACE_MS);
      await advance(60_000, process);
      expect(process.users).toEqual(["alice"]);
      process.room.leaveNow(page.id);
      await advance(1_000, process);
    }
  });

  it("keeps a page that polls, and removes it 75 seconds after its last poll at the latest", async () => {
    const store = storeOf();
    const [first, second] = [createProcess(store, "first"), createProcess(store, "second")];
    const page = memberOf("alice");
    for (let poll = 0; poll < 10; poll++) {
      const { room } = poll % 2 === 0 ? first : second; // through a load balancer
      const release = room.hold(page);
      await advance(1_000, first, second);
      release(POLL_GRACE_MS);
      await advance(30_000, first, second);
      expect([first.users, second.users], `poll ${poll}`).toEqual([["alice"], ["alice"]]);
    }
    await advance(45_000, first, second);
    expect([first.users, second.users]).toEqual([[], []]);
  });

  it("keeps a page that connects to another process, also when the first one notices its end later", async () => {
    const store = storeOf();
    const [first, second] = [createProcess(store, "first"), createProcess(store, "second")];
    const page = memberOf("alice");
    const release = first.room.hold(page);
    await advance(1_000, first, second);
    second.room.hold(page);
    await advance(5_000, first, second);
    release(STREAM_GRACE_MS);
    const { length } = second.frames;
    await advance(120_000, first, second);
    expect(second.users).toEqual(["alice"]);
    expect(second.frames.slice(length), "the list has not changed meanwhile").toEqual([]);
  });

  it("removes the pages of a killed process within 75 seconds, and not before its lease ends", async () => {
    const store = storeOf();
    const [first, second] = [createProcess(store, "first"), createProcess(store, "second")];
    first.room.hold(memberOf("alice"));
    second.room.hold(memberOf("bob"));
    await advance(10_000, first, second);
    await advance(LEASE_MS - 25_000, second);
    expect(second.users).toEqual(["alice", "bob"]);
    await advance(75_000 - (LEASE_MS - 25_000), second);
    expect(second.users).toEqual(["bob"]);
  });

  it("removes the pages of a frozen process, and shows those again that are still connected when it continues", async () => {
    const store = storeOf();
    const [first, second] = [createProcess(store, "first"), createProcess(store, "second")];
    const [alice, bob, carol] = [memberOf("alice"), memberOf("bob"), memberOf("carol")];
    const [releaseAlice, releaseBob] = [alice, bob, carol].map((page) => first.room.hold(page));
    await advance(5_000, first, second);
    first.isFrozen = true;
    await advance(75_000, first, second);
    expect(second.users).toEqual([]);
    second.room.hold(alice); // has connected elsewhere
    await advance(1_000, first, second);
    first.isFrozen = false;
    first.room.tick(performance.now()); // the first thing that runs is the timer
    releaseAlice?.(STREAM_GRACE_MS);
    releaseBob?.(STREAM_GRACE_MS); // has closed its page meanwhile
    await advance(3_000, first, second);
    expect(second.users).toEqual(["alice", "carol"]);
    await advance(60_000, first, second);
    expect([first.users, second.users]).toEqual([
      ["alice", "carol"],
      ["alice", "carol"],
    ]);
  });

  it("does not store a page again that leaves while a process that was frozen stores its pages again", async () => {
    const store = storeOf();
    const [first, second] = [createProcess(store, "first"), createProcess(store, "second")];
    const pages = ["alice", "bob", "carol"].map((user) => memberOf(user));
    const [releaseAlice, releaseBob] = pages.map((page) => first.room.hold(page));
    await advance(5_000, first, second);
    first.isFrozen = true;
    await advance(75_000, first, second);
    expect(second.users).toEqual([]);
    first.isFrozen = false;
    first.faults.restoreMs = 2_000;
    first.room.tick(performance.now());
    second.room.hold(memberOf("dave")); // a change, so that the first process reads the members: all of its own are missing
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
    for (const page of pages) first.room.hold(page);
    await advance(1_000, first, second);
    first.faults.restoreMs = 2_000;
    for (const { id } of pages) await store.remove("room", id, "first"); // the bus has lost them
    await advance(1_000, first, second);
    for (const user of ["alice", "bob"]) first.room.removeSignIn(`tag of ${user}`);
    await advance(30_000, first, second);
    expect([first.users, second.users]).toEqual([[], []]);
  });

  it("removes the pages of a process that has stopped within 30 seconds, unless they connect to another one", async () => {
    const store = storeOf();
    const [first, second] = [createProcess(store, "first"), createProcess(store, "second")];
    const [alice, bob] = [memberOf("alice"), memberOf("bob")];
    for (const page of [alice, bob]) first.room.hold(page);
    await advance(5_000, first, second);
    await first.room.close();
    second.room.hold(alice);
    await advance(10_000, second);
    expect(second.users).toEqual(["alice", "bob"]);
    await advance(20_000, second);
    expect(second.users).toEqual(["alice"]);
  });

  it("removes the pages of a sign-in at once", async () => {
    const store = storeOf();
    const [first, second] = [createProcess(store, "first"), createProcess(store, "second")];
    for (const page of [memberOf("alice", "tag 1"), memberOf("alice", "tag 2"), memberOf("bob")]) first.room.hold(page);
    await advance(1_000, first, second);
    first.room.removeSignIn("tag 1");
    await advance(200, first, second);
    expect(JSON.parse(second.room.fullFrame.json).all).toMatchObject([{ user: "alice", tabs: 1 }, { user: "bob" }]);
    first.room.removeSignIn("tag 2");
    await advance(200, first, second);
    expect(second.users).toEqual(["bob"]);
    await advance(60_000, first, second);
    expect(second.users).toEqual(["bob"]);
  });

  it("keeps the last list, stale, while the bus is unreachable, and nobody leaves until all have renewed their leases", async () => {
    const store = storeOf();
    const [first, second] = [createProcess(store, "first"), createProcess(store, "second")];
    const gone = memberOf("gone");
    first.room.hold(memberOf("alice"));
    const release = first.room.hold(gone);
    second.room.hold(memberOf("bob"));
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
    const { store, faults } = faultyStore(bus.presence as PresenceStore);
    const process = new PresenceRooms({ bus, store, log: { info() {}, warn() {}, error() {} } });
    const room = process.open("room");
    const page = memberOf("alice");
    const release = room.hold(page);
    room.hold(memberOf("bob"));
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
    first.room.hold(alice);
    second.room.hold(memberOf("bob"));
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

  it("sends changes ten times a second, and once a second above 50 people", async () => {
    const store = storeOf();
    const process = createProcess(store, "first");
    const framesIn = async (ms: number) => {
      const { length } = process.frames;
      for (let at = 0; at < ms; at += 10) {
        process.room.hold(memberOf("alice"));
        await vi.advanceTimersByTimeAsync(10);
      }
      return process.frames.length - length;
    };
    await framesIn(1_000);
    for (let at = 0; at < MANY_PEOPLE - 1; at++) process.room.hold(memberOf(`user ${at}`));
    await advance(1_000, process);
    expect(process.users).toHaveLength(MANY_PEOPLE);
    expect(await framesIn(3_000)).toBeGreaterThanOrEqual(28);
    process.room.hold(memberOf("one more"));
    await advance(1_000, process);
    const count = await framesIn(3_000);
    expect(count).toBeGreaterThanOrEqual(2);
    expect(count).toBeLessThanOrEqual(3);
  });

  it("reads the members less often if one user has many page loads", async () => {
    const store = storeOf();
    const reads = vi.spyOn(store, "read");
    const process = createProcess(store, "first");
    const pages = Array.from({ length: 5_000 }, () => memberOf("alice"));
    for (const page of pages) process.room.hold(page);
    await advance(3_000, process);
    const { length } = reads.mock.calls;
    for (let at = 0; at < 100; at++) {
      await store.setState("room", pages[at]?.id ?? "", String(at));
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(reads.mock.calls.length - length).toBeLessThanOrEqual(11); // in 10 s
  });

  it("makes no more than 100 page loads of a client present", async () => {
    const process = createProcess(storeOf(), "first");
    const tabs = async () => {
      await advance(1_000, process);
      return JSON.parse(process.room.fullFrame.json).all.map(({ tabs }: { tabs: number }) => tabs);
    };
    const pages = Array.from({ length: MAX_PAGES_PER_CLIENT + 5 }, () => memberOf("alice"));
    const [alice, bob] = ["alice", "bob"].map((client) => ({ client, watchEnd: () => () => undefined }));
    const [release] = pages.map((page) => process.room.hold(page, alice));
    process.room.hold(memberOf("bob"), bob);
    expect(await tabs()).toEqual([100, 1]);
    for (const page of pages.slice(0, 50)) process.room.hold(page, alice); // a second connection
    for (const page of pages.slice(50, 60)) process.room.leaveNow(page.id);
    expect(await tabs()).toEqual([90, 1]);
    release?.(0);
    for (let at = 0; at < 20; at++) process.room.hold(memberOf("alice"), alice);
    expect(await tabs()).toEqual([100, 1]);
  });

  it("sends each viewer of 1,000 people that join little more than the list", async () => {
    const store = storeOf();
    const [first, second] = [createProcess(store, "first"), createProcess(store, "second")];
    for (let at = 0; at < 1_000; at++) {
      first.room.hold(memberOf(`user ${at}`));
      if (at % 10 === 0) await vi.advanceTimersByTimeAsync(100); // within ten seconds
    }
    await advance(2_000, first, second);
    expect(second.users).toHaveLength(1_000);
    expect(second.frames.length).toBeLessThan(25);
    const bytes = JSON.stringify(second.frames).length;
    expect(bytes).toBeLessThan(second.room.fullFrame.json.length * 1.2);
  });

  it("encodes each frame once for all connections", async () => {
    const process = createProcess(storeOf(), "first");
    const received: Uint8Array[] = [];
    for (let at = 0; at < 3; at++)
      process.room.addViewer({ receive: (_, { event }) => void received.push(event) }, undefined);
    process.room.hold(memberOf("alice"));
    await advance(200, process);
    const last = received.slice(-3);
    expect(last).toHaveLength(3);
    expect(new Set(last).size).toBe(1);
  });

  it("is idle when nobody has used it for 30 seconds", async () => {
    const process = createProcess(storeOf(), "first");
    await advance(60_000, process);
    expect(process.room.isIdle).toBe(false);
    process.room.removeViewer(process.viewer);
    await advance(29_000, process);
    expect(process.room.isIdle).toBe(false);
    await advance(1_000, process);
    expect(process.room.isIdle).toBe(true);
  });
});
