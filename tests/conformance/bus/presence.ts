/** The store of who is present: a bus that has one passes these tests. */
import { describe, expect, it, vi } from "vitest";
import type { Bus, PresenceStore } from "../../../src/backends/index.ts";
import { type OpenBuses, uniqueChannel } from "./open-buses.ts";

const LEASE_MS = 60_000;

/** A channel in two processes, each with a holder. */
interface Room {
  readonly channel: string;
  readonly first: Side;
  readonly second: Side;
}

interface Side {
  readonly store: PresenceStore;
  readonly holder: string;
  /** The calls of the listener. */
  readonly calls: (string | undefined)[];
  readonly stop: () => void;
}

async function watchIn(bus: Bus, channel: string, holder: string, leaseMs = LEASE_MS): Promise<Side> {
  const store = storeOf(bus);
  const calls: (string | undefined)[] = [];
  const stop = await store.watch(channel, { holder, leaseMs, listener: (removedId) => void calls.push(removedId) });
  return { store, holder, calls, stop };
}

function storeOf({ presence }: Bus): PresenceStore {
  if (!presence) throw new Error("The bus does not store who is present.");
  return presence;
}

/** Waits until a store returns members with these ids. */
async function expectMembers({ store }: Side, channel: string, ids: readonly string[]): Promise<void> {
  await vi.waitFor(
    async () => expect((await store.read(channel)).map(({ id }) => id).sort()).toEqual([...ids].sort()),
    { timeout: 10_000 },
  );
}

/** @param getBuses called in each test, after the fixture was started */
export function presenceTests(getBuses: () => OpenBuses): void {
  describe("its store of who is present", () => {
    const openRoom = async (): Promise<Room> => {
      const { bus, other } = getBuses();
      const channel = uniqueChannel();
      const [first, second] = await Promise.all([
        watchIn(bus, channel, "first-holder"),
        watchIn(other, channel, "second-holder"),
      ]);
      return { channel, first, second };
    };
    const stop = ({ first, second }: Room) => {
      first.stop();
      second.stop();
    };

    it("returns a member that another process has stored, unchanged, and calls its listener", async () => {
      const room = await openRoom();
      const { channel, first, second } = room;
      expect(await second.store.read(channel)).toEqual([]);
      const value = '{"name":"Zoë \\n  \\u0000 x y","n":1}';
      await first.store.put(channel, { id: "page1", holder: first.holder, value });
      await vi.waitFor(() => expect(second.calls.length).toBeGreaterThan(0), { timeout: 10_000 });
      await expectMembers(second, channel, ["page1"]);
      expect(await second.store.read(channel)).toEqual([{ id: "page1", holder: first.holder, value, state: null }]);
      stop(room);
    });

    it("returns what a process has stored itself at once", async () => {
      const room = await openRoom();
      const { channel, first } = room;
      for (let at = 0; at < 20; at++) {
        await first.store.put(channel, { id: `page${at}`, holder: first.holder, value: String(at) });
        expect(await first.store.read(channel)).toHaveLength(at + 1);
      }
      await first.store.remove(channel, "page7", first.holder);
      expect(await first.store.read(channel)).toHaveLength(19);
      stop(room);
    });

    it("returns the members that were stored before the channel was watched", async () => {
      const room = await openRoom();
      const { channel, first } = room;
      await first.store.put(channel, { id: "page1", holder: first.holder, value: "1" });
      const third = await watchIn(getBuses().open(), channel, "third-holder");
      expect((await third.store.read(channel)).map(({ id }) => id)).toEqual(["page1"]);
      third.stop();
      stop(room);
    });

    it("knows without a watch whether nobody is in a channel", async () => {
      const other = await openRoom(); // its stream exists, and another channel has members
      await other.first.store.put(other.channel, { id: "page1", holder: other.first.holder, value: "1" });
      const store = storeOf(getBuses().bus);
      const channel = uniqueChannel();
      expect(await store.isEmpty(channel)).toBe(true);
      const side = await watchIn(getBuses().other, channel, "holder");
      expect(await store.isEmpty(channel)).toBe(true); // it has a lease, and no members
      await side.store.put(channel, { id: "page1", holder: side.holder, value: "1" });
      expect(await store.isEmpty(channel)).toBe(false);
      expect(await store.isEmpty(other.channel)).toBe(false);
      side.stop();
      stop(other);
    });

    it("keeps channels apart, whatever their names are", async () => {
      const names = ["a", "a:b", "a.b", "a>", "a*", "ä ö", "{a}", "a\u2028"].map(
        (name) => `${uniqueChannel()} ${name}`,
      );
      const { bus } = getBuses();
      const sides = await Promise.all(names.map((name) => watchIn(bus, name, "holder")));
      for (const name of names) await storeOf(bus).put(name, { id: "page", holder: "holder", value: name });
      for (const name of names) expect((await storeOf(bus).read(name)).map(({ value }) => value)).toEqual([name]);
      for (const side of sides) side.stop();
    });

    it("replaces a member, whose former holder can no longer remove it", async () => {
      const room = await openRoom();
      const { channel, first, second } = room;
      await first.store.put(channel, { id: "page", holder: first.holder, value: "1" });
      await second.store.put(channel, { id: "page", holder: second.holder, value: "2" });
      await first.store.remove(channel, "page", first.holder);
      expect(await second.store.read(channel)).toMatchObject([{ id: "page", holder: second.holder, value: "2" }]);
      await second.store.remove(channel, "page", second.holder);
      await expectMembers(first, channel, []);
      stop(room);
    });

    it("removes a member regardless of its holder, and passes its id to the listeners", async () => {
      const room = await openRoom();
      const { channel, first, second } = room;
      await first.store.put(channel, { id: "page", holder: first.holder, value: "1" });
      await storeOf(getBuses().open()).remove(channel, "page", null); // of a process that does not watch the channel
      await vi.waitFor(
        () =>
          expect([first.calls, second.calls]).toMatchObject([
            expect.arrayContaining(["page"]),
            expect.arrayContaining(["page"]),
          ]),
        { timeout: 10_000 },
      );
      await expectMembers(first, channel, []);
      await first.store.remove(channel, "page", null); // again
      await first.store.remove(channel, "unknown", first.holder);
      stop(room);
    });

    it("stores a member only if it is absent, on request", async () => {
      const room = await openRoom();
      const { channel, first, second } = room;
      const entry = (side: Side, value: string) => ({ id: "page", holder: side.holder, value });
      await first.store.put(channel, entry(first, "1"), { ifAbsent: true });
      await expectMembers(second, channel, ["page"]);
      await second.store.put(channel, entry(second, "2"), { ifAbsent: true });
      expect(await first.store.read(channel)).toMatchObject([{ holder: first.holder, value: "1" }]);
      await first.store.put(channel, entry(first, "3"), { ifAbsent: true });
      expect(await first.store.read(channel)).toMatchObject([{ holder: first.holder, value: "3" }]);
      await first.store.remove(channel, "page", first.holder);
      await second.store.put(channel, entry(second, "4"), { ifAbsent: true });
      await vi.waitFor(async () => expect(await first.store.read(channel)).toMatchObject([{ holder: second.holder }]), {
        timeout: 10_000,
      });
      stop(room);
    });

    it("does not return members whose holder has no lease any more, and does again when it is renewed", async () => {
      const { bus, other } = getBuses();
      const channel = uniqueChannel();
      const first = await watchIn(bus, channel, "first-holder", 700);
      const second = await watchIn(other, channel, "second-holder");
      await first.store.put(channel, { id: "page1", holder: first.holder, value: "1" });
      await second.store.put(channel, { id: "page2", holder: second.holder, value: "2" });
      await expectMembers(second, channel, ["page2"]);
      expect(await second.store.setState(channel, "page1", "1")).toBe(false);
      const { length } = second.calls;
      await first.store.renew(channel, first.holder, LEASE_MS);
      await vi.waitFor(() => expect(second.calls.length).toBeGreaterThan(length), { timeout: 10_000 });
      await expectMembers(second, channel, ["page1", "page2"]);
      // A member without a lease counts as absent.
      await first.store.renew(channel, first.holder, 1);
      await expectMembers(second, channel, ["page2"]);
      await second.store.put(channel, { id: "page1", holder: second.holder, value: "3" }, { ifAbsent: true });
      await expectMembers(second, channel, ["page1", "page2"]);
      first.stop();
      second.stop();
    });

    it("sets the state of a member, which it keeps when the page connects elsewhere and loses when it leaves", async () => {
      const room = await openRoom();
      const { channel, first, second } = room;
      const stateOf = async (side: Side) => (await side.store.read(channel))[0]?.state?.json;
      expect(await second.store.setState(channel, "page", "1")).toBe(false);
      await first.store.put(channel, { id: "page", holder: first.holder, value: "1" });
      expect(await storeOf(getBuses().open()).setState(channel, "page", '{"a":"b c"}')).toBe(true);
      await vi.waitFor(async () => expect(await stateOf(second)).toBe('{"a":"b c"}'), { timeout: 10_000 });
      await second.store.put(channel, { id: "page", holder: second.holder, value: "2" });
      expect(await stateOf(second)).toBe('{"a":"b c"}');
      await second.store.put(channel, { id: "page", holder: second.holder, value: "2", state: "null" });
      expect(await stateOf(second)).toBe("null");
      await second.store.remove(channel, "page", second.holder);
      await second.store.put(channel, { id: "page", holder: second.holder, value: "2" });
      expect(await stateOf(second)).toBeUndefined();
      stop(room);
    });

    it("orders the states of a channel by when they were set", async () => {
      const room = await openRoom();
      const { channel, first, second } = room;
      for (const id of ["page1", "page2"]) await first.store.put(channel, { id, holder: first.holder, value: "1" });
      let last = 0;
      for (let at = 0; at < 10; at++) {
        const id = at % 2 === 0 ? "page1" : "page2";
        const side = at % 3 === 0 ? first : second;
        expect(await side.store.setState(channel, id, String(at))).toBe(true);
        const state = (await side.store.read(channel)).find((member) => member.id === id)?.state;
        expect(state?.json).toBe(String(at));
        expect(state?.order).toBeGreaterThan(last);
        last = state?.order ?? 0;
      }
      stop(room);
    });

    it("does not call a listener after it was stopped, and other ones still", async () => {
      const room = await openRoom();
      const { channel, first, second } = room;
      first.stop();
      const { length } = first.calls;
      await second.store.put(channel, { id: "page", holder: second.holder, value: "1" });
      await vi.waitFor(() => expect(second.calls.length).toBeGreaterThan(0), { timeout: 10_000 });
      expect(first.calls).toHaveLength(length);
      second.stop();
    });
  });
}
