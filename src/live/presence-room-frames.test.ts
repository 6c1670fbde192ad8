import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { advance, closeRooms, createProcess, holdPage, memberOf, storeOf, useRoomClock } from "#test/room-processes";
import { MANY_PEOPLE } from "./presence-room.ts";

beforeEach(useRoomClock);
afterEach(closeRooms);

describe("PresenceRoom: its frames", () => {
  it("sends changes ten times a second, and once a second above 50 people", async () => {
    const store = storeOf();
    const process = createProcess(store, "first");
    const framesIn = async (ms: number) => {
      const { length } = process.frames;
      for (let at = 0; at < ms; at += 10) {
        holdPage(process.room, memberOf("alice"));
        await vi.advanceTimersByTimeAsync(10);
      }
      return process.frames.length - length;
    };
    await framesIn(1_000);
    for (let at = 0; at < MANY_PEOPLE - 1; at++) holdPage(process.room, memberOf(`user ${at}`));
    await advance(1_000, process);
    expect(process.users).toHaveLength(MANY_PEOPLE);
    expect(await framesIn(3_000)).toBeGreaterThanOrEqual(28);
    holdPage(process.room, memberOf("one more"));
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
    for (const page of pages) holdPage(process.room, page);
    await advance(3_000, process);
    const { length } = reads.mock.calls;
    for (let at = 0; at < 100; at++) {
      await store.setState("room", pages[at]?.id ?? "", String(at));
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(reads.mock.calls.length - length).toBeLessThanOrEqual(11); // in 10 s
  });

  it("sends each viewer of 1,000 people that join little more than the list", async () => {
    const store = storeOf();
    const [first, second] = [createProcess(store, "first"), createProcess(store, "second")];
    for (let at = 0; at < 1_000; at++) {
      holdPage(first.room, memberOf(`user ${at}`));
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
    holdPage(process.room, memberOf("alice"));
    await advance(200, process);
    const last = received.slice(-3);
    expect(last).toHaveLength(3);
    expect(new Set(last).size).toBe(1);
  });
});
