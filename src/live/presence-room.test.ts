import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { advance, closeRooms, createProcess, holdPage, memberOf, storeOf, useRoomClock } from "#test/room-processes";
import { MAX_PAGES_PER_CLIENT, POLL_GRACE_MS, STREAM_GRACE_MS } from "./held-pages.ts";
import { LEASE_MS } from "./presence-room.ts";

beforeEach(useRoomClock);
afterEach(closeRooms);

describe("PresenceRoom", () => {
  it("shows a page as long as it has a connection, and a while longer, in every process", async () => {
    const store = storeOf();
    const [first, second] = [createProcess(store, "first"), createProcess(store, "second")];
    const page = memberOf("alice");
    const release = holdPage(first.room, page);
    await advance(200, first, second);
    expect([first.users, second.users]).toEqual([["alice"], ["alice"]]);
    const { length } = second.frames;
    await advance(10 * LEASE_MS, first, second);
    expect(second.users).toEqual(["alice"]);
    expect(second.frames.slice(length), "the lease is renewed before it ends").toEqual([]);
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
        process.room.pages.forget(page.id);
        await store.remove("room", page.id, null);
      },
      () => process.room.pages.removeSignIn("tag of alice"),
    ]) {
      const release = holdPage(process.room, page);
      await advance(1_000, process);
      await leave();
      await advance(1_000, process);
      expect(process.users).toEqual([]);
      holdPage(process.room, page);
      await advance(1_000, process);
      release(STREAM_GRACE_MS);
      await advance(60_000, process);
      expect(process.users).toEqual(["alice"]);
      process.room.pages.leaveNow(page.id);
      await advance(1_000, process);
    }
  });

  it("keeps a page that polls, and removes it 75 seconds after its last poll at the latest", async () => {
    const store = storeOf();
    const [first, second] = [createProcess(store, "first"), createProcess(store, "second")];
    const page = memberOf("alice");
    for (let poll = 0; poll < 10; poll++) {
      const { room } = poll % 2 === 0 ? first : second; // through a load balancer
      const release = holdPage(room, page);
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
    const release = holdPage(first.room, page);
    await advance(1_000, first, second);
    holdPage(second.room, page);
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
    holdPage(first.room, memberOf("alice"));
    holdPage(second.room, memberOf("bob"));
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
    const [releaseAlice, releaseBob] = [alice, bob, carol].map((page) => holdPage(first.room, page));
    await advance(5_000, first, second);
    first.isFrozen = true;
    await advance(75_000, first, second);
    expect(second.users).toEqual([]);
    holdPage(second.room, alice); // has connected elsewhere
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

  it("removes the pages of a process that has stopped within 30 seconds, unless they connect to another one", async () => {
    const store = storeOf();
    const [first, second] = [createProcess(store, "first"), createProcess(store, "second")];
    const [alice, bob] = [memberOf("alice"), memberOf("bob")];
    for (const page of [alice, bob]) holdPage(first.room, page);
    await advance(5_000, first, second);
    await first.room.close();
    holdPage(second.room, alice);
    await advance(10_000, second);
    expect(second.users).toEqual(["alice", "bob"]);
    await advance(20_000, second);
    expect(second.users).toEqual(["alice"]);
  });

  it("removes the pages of a sign-in at once", async () => {
    const store = storeOf();
    const [first, second] = [createProcess(store, "first"), createProcess(store, "second")];
    for (const page of [memberOf("alice", "tag 1"), memberOf("alice", "tag 2"), memberOf("bob")])
      holdPage(first.room, page);
    await advance(1_000, first, second);
    first.room.pages.removeSignIn("tag 1");
    await advance(200, first, second);
    expect(JSON.parse(second.room.fullFrame.json).all).toMatchObject([{ user: "alice", tabs: 1 }, { user: "bob" }]);
    first.room.pages.removeSignIn("tag 2");
    await advance(200, first, second);
    expect(second.users).toEqual(["bob"]);
    await advance(60_000, first, second);
    expect(second.users).toEqual(["bob"]);
  });

  it("makes no more than 100 page loads of a client present", async () => {
    const process = createProcess(storeOf(), "first");
    const tabs = async () => {
      await advance(1_000, process);
      return JSON.parse(process.room.fullFrame.json).all.map(({ tabs }: { tabs: number }) => tabs);
    };
    const pages = Array.from({ length: MAX_PAGES_PER_CLIENT + 5 }, () => memberOf("alice"));
    const [alice, bob] = ["alice", "bob"].map((client) => ({ client, watchEnd: () => () => undefined }));
    const [release] = pages.map((page) => holdPage(process.room, page, alice));
    holdPage(process.room, memberOf("bob"), bob);
    expect(await tabs()).toEqual([100, 1]);
    for (const page of pages.slice(0, 50)) holdPage(process.room, page, alice); // a second connection
    for (const page of pages.slice(50, 60)) process.room.pages.leaveNow(page.id);
    expect(await tabs()).toEqual([90, 1]);
    release?.(0);
    for (let at = 0; at < 20; at++) holdPage(process.room, memberOf("alice"), alice);
    expect(await tabs()).toEqual([100, 1]);
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
