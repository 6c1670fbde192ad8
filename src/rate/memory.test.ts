import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { memoryRate } from "./memory.ts";
import { waitFor } from "./window.ts";

const RATE = { calls: 120, seconds: 60 };

/** A store whose clock the test moves. */
function store(rate = RATE, maxClients?: number) {
  const clock = { ms: 1_000_000_000 * 60_000 };
  const rates = memoryRate(rate, () => clock.ms, maxClients);
  const take = (key = "a") => rates.take(key) as number; // this store answers at once
  return { clock, take };
}

describe("memoryRate", () => {
  it("lets the last call of the rate through and not the next", () => {
    const { take } = store();
    for (let call = 1; call <= 120; call++) expect(take(), `call ${call}`).toBe(0);
    expect(take()).toBeGreaterThan(0);
    expect(take("b")).toBe(0);
  });

  it.each([0, 1, 17_300, 30_000, 59_999])(
    "tells how long to wait, right to the second, %i ms into a window",
    (offset) => {
      const { clock, take } = store();
      clock.ms += offset;
      while (take() === 0);
      const wait = Math.ceil(take());
      clock.ms += (wait - 1) * 1000;
      expect(take(), "a second before").toBeGreaterThan(0);
      clock.ms += 1000;
      expect(take(), "after the wait").toBe(0);
    },
  );

  it("slides: half a window on, half of the calls of the window before still count", () => {
    const { clock, take } = store();
    for (let call = 0; call < 120; call++) take();
    clock.ms += 90_000;
    let admitted = 0;
    while (take() === 0) admitted++;
    expect(admitted).toBe(60);
  });

  it("forgets after two windows, and when the clock jumps", () => {
    const { clock, take } = store();
    while (take() === 0);
    clock.ms += 120_000;
    expect(take()).toBe(0);
    clock.ms -= 3_600_000;
    expect(take()).toBe(0);
  });

  it("counts nothing for a call that it refuses", () => {
    const { clock, take } = store();
    while (take() === 0);
    for (let call = 0; call < 1000; call++) take();
    clock.ms += 60_500;
    expect(take()).toBe(0);
  });

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
          const wait = waitFor(counted, rate);
          expect(wait).toBeGreaterThanOrEqual(0);
          expect(wait).toBeLessThanOrEqual(120);
          if (wait === 0) return;
          const later = elapsed + (wait + 1e-6) / 60;
          const then =
            later < 1 ? { ...counted, elapsed: later } : { previous: counted.current, current: 0, elapsed: later - 1 };
          expect(waitFor(then, rate)).toBe(0);
        },
      ),
    );
  });
});
