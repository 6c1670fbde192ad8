import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { singleLimit } from "#test/single-limit";
import { memoryRateStore } from "./memory-store.ts";

const RATE = { calls: 120, seconds: 60 };

/** Returns a store with the clock of the test. */
function openStore(rate = RATE, maxKeys?: number) {
  const clock = { ms: 1_000_000_000 * 60_000 };
  const { take } = singleLimit(
    memoryRateStore({ now: () => clock.ms, ...(maxKeys === undefined ? {} : { maxKeys }) }),
    rate,
  );
  return { take, clock };
}

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

/** Returns the size of all objects in use, in bytes. */
function usedBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

// The tests that all rate stores share are in tests/conformance/rate.ts.
describe("the counts of a limit in memory", () => {
  it("keeps a blocked client blocked when more clients follow than it can count", () => {
    const { take } = openStore({ calls: 3, seconds: 60 }, 10);
    for (let call = 0; call < 3; call++) take("blocked");
    expect(take("blocked")).toBeGreaterThan(0);
    for (let client = 0; client < 1000; client++) take(`other ${client}`);
    expect(take("blocked")).toBeGreaterThan(0);
  });

  it("counts further clients together when every client that it counts is blocked", () => {
    const { take } = openStore({ calls: 2, seconds: 60 }, 4);
    for (const client of ["a", "b", "c", "d"]) while (take(client) === 0);
    const admitted = Array.from({ length: 50 }, (_, client) => take(`new ${client}`)).filter((wait) => wait === 0);
    expect(admitted).toHaveLength(2);
    for (const client of ["a", "b", "c", "d"]) expect(take(client)).toBeGreaterThan(0);
  });

  it("keeps clients blocked that called before and return when it counts as many clients as it can", () => {
    const { take, clock } = openStore({ calls: 2, seconds: 60 }, 3);
    take("first"); // a generation of clients has 61 s
    clock.ms += 60_000;
    for (const client of ["a", "b"]) for (let call = 0; call < 2; call++) expect(take(client)).toBe(0);
    clock.ms += 10_000; // the next generation of clients
    for (const client of ["c", "d", "e"]) for (let call = 0; call < 2; call++) expect(take(client)).toBe(0);
    for (const client of ["a", "b"]) expect(take(client)).toBeGreaterThan(0);
    clock.ms += 51_000; // their calls have expired, those of c, d and e have not
    expect([take("a"), take("b")]).toEqual([0, 0]); // counted together
    expect(take("a")).toBeGreaterThan(0);
  });

  it("does not keep clients that have not called for 122 s", () => {
    const { take, clock } = openStore();
    for (let client = 0; client < 100_000; client++) take(`client ${client}`);
    const before = usedBytes();
    clock.ms += 122_000;
    take("late");
    const freed = before - usedBytes();
    take("late"); // keeps the store in use until here, so that it was not collected before the measurement
    expect(freed).toBeGreaterThan(10_000_000); // of about 15 MB
  });

  it("takes calls of two million addresses, a million in each generation, in at most 40 MB [REQUEST-58]", () => {
    const { take, clock } = openStore();
    const before = usedBytes();
    for (const generation of [1, 2]) {
      for (let client = 0; client < 1_000_000; client++)
        take(`${generation}.${client >> 16}.${(client >> 8) & 255}.${client & 255}`);
      if (generation === 1) expect(usedBytes() - before).toBeLessThan(25_000_000);
      if (generation === 1) clock.ms += 61_000; // the first generation has ended, and its counts are still kept
    }
    const used = usedBytes() - before;
    take("late"); // keeps the store in use until here, so that it was not collected before the measurement
    expect(used).toBeLessThan(40_000_000);
  });
});
