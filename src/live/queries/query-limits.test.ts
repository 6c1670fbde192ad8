import { describe, expect, it } from "vitest";
import { MAX_RUNS, RunSlots, ValueCache } from "./query-limits.ts";

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

const KIB = 1_024;

function createCache(kib: number) {
  const cache = new ValueCache(kib * KIB);
  const dropped: string[] = [];
  const add = (name: string, isUsed: boolean, valueKib = 8) => {
    const entry = { isUsed, drop: () => void dropped.push(name) };
    cache.set(entry, valueKib * KIB);
    return entry;
  };
  return { cache, dropped, add };
}

describe("the values of a process", () => {
  it("are kept up to the maximum, their entries included", () => {
    const { cache, dropped, add } = createCache(30);
    for (const name of ["a", "b", "c"]) add(name, false);
    expect(cache.bytes).toBe(30 * KIB);
    expect(dropped).toEqual([]);
    add("d", false, 0);
    expect(dropped).toEqual(["a"]);
    expect(cache.bytes).toBe(22 * KIB);
  });

  it("are dropped when nobody receives them, before all others, the least recently used one first", () => {
    const { cache, dropped, add } = createCache(40);
    add("used", true);
    const [first] = [add("first", false), add("second", false), add("third", false)];
    if (first) cache.touch(first);
    add("fourth", true);
    add("fifth", true);
    add("sixth", true);
    add("seventh", true);
    expect(dropped).toEqual(["second", "third", "first", "used"]);
  });

  it("count anew when somebody receives them, or nobody does", () => {
    const { cache, dropped, add } = createCache(20);
    const first = add("first", true);
    const second = add("second", false);
    first.isUsed = false;
    second.isUsed = true;
    cache.touch(first);
    cache.touch(second);
    add("third", true);
    expect(dropped).toEqual(["first"]);
  });

  it("are counted once, also after they were replaced or deleted", () => {
    const { cache, add } = createCache(40);
    const entry = add("a", true);
    cache.set(entry, 16 * KIB);
    expect(cache.bytes).toBe(18 * KIB);
    cache.delete(entry);
    cache.delete(entry);
    cache.touch(entry);
    expect(cache.bytes).toBe(0);
  });

  it("are bounded in number, however small they are", () => {
    const { cache, dropped, add } = createCache(64);
    for (let i = 0; i < 1_000; i++) add(String(i), i % 2 === 0, 0);
    expect(dropped).toHaveLength(1_000 - 32);
    expect(cache.bytes).toBeLessThanOrEqual(64 * KIB);
  });
});
