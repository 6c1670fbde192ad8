import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { memoryRateStore } from "./memory-store.ts";
import { retryAfterSeconds } from "./window.ts";

const RATE = { calls: 120, seconds: 60 };

/** A store for which time stands still. */
function store(rate = RATE, maxClients?: number) {
  const rates = memoryRateStore(rate, () => 1_000_000_000 * 60_000, maxClients);
  return { take: (key: string) => rates.take(key) as number }; // this store answers at once
}

// What it has in common with the other stores is in tests/conformance/rate.ts.
describe("memoryRate", () => {
  it("never lets a blocked client in for the crowd that comes after it", () => {
    const { take } = store({ calls: 3, seconds: 60 }, 10);
    for (let call = 0; call < 3; call++) take("blocked");
    expect(take("blocked")).toBeGreaterThan(0);
    for (let client = 0; client < 1000; client++) take(`other ${client}`);
    expect(take("blocked")).toBeGreaterThan(0);
  });

  it("counts newcomers together when every client it has room for is blocked", () => {
    const { take } = store({ calls: 2, seconds: 60 }, 4);
    for (const client of ["a", "b", "c", "d"]) while (take(client) === 0);
    const admitted = Array.from({ length: 50 }, (_, client) => take(`new ${client}`)).filter((wait) => wait === 0);
    expect(admitted).toHaveLength(2);
    for (const client of ["a", "b", "c", "d"]) expect(take(client)).toBeGreaterThan(0);
  });

  it("holds a million addresses in bounded memory", () => {
    const { take } = store();
    global.gc?.();
    const before = process.memoryUsage().heapUsed;
    for (let client = 0; client < 1_000_000; client++)
      take(`10.${client >> 16}.${(client >> 8) & 255}.${client & 255}`);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(200 * 1024 * 1024);
  });
});

describe("waitFor", () => {
  it("is never longer than two spans, and enough", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 500 }),
        fc.integer({ min: 0, max: 500 }),
        fc.integer({ min: 0, max: 500 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (calls, previous, current, elapsed) => {
          const rate = { calls, seconds: 60 };
          const counted = { previous: Math.min(previous, calls), current: Math.min(current, calls), elapsed };
          const wait = retryAfterSeconds(counted, rate);
          expect(wait).toBeGreaterThanOrEqual(0);
          expect(wait).toBeLessThanOrEqual(120);
          if (wait === 0) return;
          const later = elapsed + (wait + 1e-6) / 60;
          const then =
            later < 1 ? { ...counted, elapsed: later } : { previous: counted.current, current: 0, elapsed: later - 1 };
          expect(retryAfterSeconds(then, rate)).toBe(0);
        },
      ),
    );
  });
});
