import { describe, expect, it } from "vitest";
import { MAX_RUNS, RunSlots } from "./run-slots.ts";

function createSlots(max: number) {
  const slots = new RunSlots(max);
  const begun: string[] = [];
  const acquire = (query: string, run = query) => slots.acquire(query, () => void begun.push(run));
  return { slots, begun, acquire };
}

describe("the runs of a process", () => {
  it("begin at once up to the maximum, and later when another one ends", () => {
    const { slots, begun, acquire } = createSlots(MAX_RUNS);
    for (let i = 0; i < MAX_RUNS + 1; i++) acquire(`q${i}`);
    expect(begun).toHaveLength(MAX_RUNS);
    slots.release();
    expect(begun).toHaveLength(MAX_RUNS + 1);
    expect(slots.used).toBe(MAX_RUNS);
  });

  it("take turns by query: one that runs for many sign-ins delays the others by one run", () => {
    const { slots, begun, acquire } = createSlots(1);
    acquire("a");
    for (let i = 1; i <= 100; i++) acquire("a", `a${i}`);
    acquire("b");
    acquire("c");
    for (let i = 0; i < 4; i++) slots.release();
    expect(begun).toEqual(["a", "a1", "b", "c", "a2"]);
  });

  it("do not begin after they were given up", () => {
    const { slots, begun, acquire } = createSlots(1);
    acquire("a");
    const giveUp = acquire("b");
    acquire("c");
    giveUp();
    giveUp();
    slots.release();
    slots.release();
    expect(begun).toEqual(["a", "c"]);
    expect(slots.used).toBe(0);
  });

  it("may be given up after they have begun, without an effect", () => {
    const { slots, begun, acquire } = createSlots(1);
    const first = acquire("a");
    const second = acquire("b");
    first();
    slots.release();
    second();
    acquire("c");
    expect(begun).toEqual(["a", "b"]);
    slots.release();
    expect(begun).toEqual(["a", "b", "c"]);
  });
});
