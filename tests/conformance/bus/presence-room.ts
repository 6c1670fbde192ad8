/** A room of presence over a bus: it lists no page that was left, also if the bus stores the page after its removal. */
import { afterEach, describe, expect, it, vi } from "vitest";
import { closeRooms, createProcess, holdPage, memberOf, type Process } from "#test/room-processes";
import type { PresenceStore } from "../../../src/backends/index.ts";
import { type OpenBuses, uniqueChannel } from "./open-buses.ts";

/** @param getBuses called in each test, after the fixture was started */
export function presenceRoomTests(getBuses: () => OpenBuses): void {
  describe("a room of presence over it", () => {
    afterEach(closeRooms);

    /** Opens a room in two processes, with two users in the first one. */
    const openRoom = async () => {
      const channel = uniqueChannel();
      const [store, other] = [getBuses().bus, getBuses().other].map(({ presence }) => presence as PresenceStore);
      if (!store || !other) throw new Error("The bus does not store who is present.");
      const [first, second] = [createProcess(store, "first", channel), createProcess(other, "second", channel)];
      const [alice, bob] = [memberOf("alice"), memberOf("bob")];
      for (const page of [alice, bob]) holdPage(first.room, page);
      const expectUsers = (...users: readonly string[]) =>
        vi.waitFor(() => expect([first, second].map((process: Process) => process.users)).toEqual([users, users]), {
          timeout: 10_000,
        });
      await expectUsers("alice", "bob");
      return { channel, store, other, first, alice, bob, expectUsers };
    };

    it("does not keep a page that reports to another process that it is left, while its own process stores it", async () => {
      const { channel, store, other, first, alice, bob, expectUsers } = await openRoom();
      const storing = first.holdBack("put", alice.id);
      holdPage(first.room, alice); // a second connection, such as that of the next poll
      await storing.begun;
      await other.remove(channel, alice.id, null);
      await expectUsers("bob");
      const put = vi.spyOn(store, "put");
      storing.resume();
      await expect.poll(() => put).toHaveBeenCalledOnce();
      await put.mock.results[0]?.value;
      put.mockRestore();
      await vi.waitFor(async () => expect((await store.read(channel)).map(({ id }) => id)).toEqual([bob.id]), {
        timeout: 10_000,
      });
      await expectUsers("bob");
    });

    it("does not keep a page that it stores after its removal", async () => {
      const { channel, store, first, alice, bob, expectUsers } = await openRoom();
      const entry = (await store.read(channel)).find(({ id }) => id === alice.id);
      first.room.pages.leaveNow(alice.id);
      await expectUsers("bob");
      await store.put(channel, { id: alice.id, holder: "first", value: entry?.value ?? "" });
      await vi.waitFor(async () => expect((await store.read(channel)).map(({ id }) => id)).toEqual([bob.id]), {
        timeout: 10_000,
      });
      await expectUsers("bob");
    });
  });
}
