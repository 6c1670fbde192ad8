import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { memoryRateStore } from "./memory-store.ts";
import { retryAfterSeconds } from "./window.ts";

const RATE = { calls: 120, seconds: 60 };

/** Returns a store whose clock stands still. */
function openStore(rate = RATE, maxClients?: number) {
  return memoryRateStore(rate, () => 1_000_000_000 * 60_000, maxClients);
}

// The tests that all rate stores share are in tests/conformance/rate.ts.
describe("memoryRateStore", () => {
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

  it("takes calls of a million addresses in bounded memory", () => {
    const { take } = openStore();
    global.gc?.();
    const before = process.memoryUsage().heapUsed;
    for (let client = 0; client < 1_000_000; client++)
      take(`10.${client >> 16}.${(client >> 8) & 255}.${client & 255}`);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(200 * 1024 * 1024);
  });
});

describe("retryAfterSeconds", () => {
  it("returns a wait of at most two spans, after which the call is accepted", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 500 }),
        fc.integer({ min: 0, max: 500 }),
        fc.integer({ min: 0, max: 500 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (calls, previous, current, elapsed) => {
          const rate = { calls, seconds: 60 };
          const counts = { previous: Math.min(previous, calls), current: Math.min(current, calls), elapsed };
          const wait = retryAfterSeconds(counts, rate);
          expect(wait).toBeGreaterThanOrEqual(0);
          expect(wait).toBeLessThanOrEqual(120);
          if (wait === 0) return;
          const later = elapsed + (wait + 1e-6) / 60;
          const then =
            later < 1 ? { ...counts, elapsed: later } : { previous: counts.current, current: 0, elapsed: later - 1 };
          expect(retryAfterSeconds(then, rate)).toBe(0);
        },
      ),
    );
  });
});
