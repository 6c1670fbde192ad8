/**
 * What every store of calls keeps, run over each of them.
 */
import { beforeEach, describe, expect, it } from "vitest";
import type { Rate, RateStore } from "../../src/rate-limit/index.ts";

/** A time, in milliseconds, that a test moves. */
export interface Clock {
  ms: number;
}

/** Opens a store that has counted nothing, on the test's clock. */
export type OpenStore = (rate: Rate, clock: Clock) => RateStore;

const RATE = { calls: 120, seconds: 60 };

/** The beginning of a window of 60 seconds. */
export const WINDOW_START = 29_000_000 * 60_000;

/** Defines the tests of one store. */
export function rateStoreTests(name: string, open: OpenStore): void {
  describe(`the rate store ${name}`, () => {
    let clock: Clock;
    beforeEach(() => {
      clock = { ms: WINDOW_START };
    });

    /** Takes calls of a client until one is refused; gives how many were let through, and the wait then. */
    async function exhaust(store: RateStore, key = "a"): Promise<{ admitted: number; wait: number }> {
      for (let admitted = 0; ; admitted++) {
        const wait = await store.take(key);
        if (wait !== 0) return { admitted, wait };
      }
    }

    it("lets the last call of the rate through and not the next, for each client", async () => {
      const store = open(RATE, clock);
      expect((await exhaust(store)).admitted).toBe(120);
      expect(await store.take("a")).toBeGreaterThan(0);
      expect((await exhaust(store, "b")).admitted).toBe(120);
    });

    it("keeps a rate of one call", async () => {
      const store = open({ calls: 1, seconds: 1 }, clock);
      expect(await exhaust(store)).toEqual({ admitted: 1, wait: 2 });
      clock.ms += 1999;
      expect(await store.take("a")).toBeGreaterThan(0);
      clock.ms += 1;
      expect(await store.take("a")).toBe(0);
    });

    it.each([0, 1, 17_300, 30_000, 59_999])(
      "tells how long to wait, right to the second, %i ms into a window",
      async (offset) => {
        const store = open(RATE, clock);
        clock.ms += offset;
        const wait = Math.ceil((await exhaust(store)).wait);
        clock.ms += (wait - 1) * 1000;
        expect(await store.take("a"), "a second before").toBeGreaterThan(0);
        clock.ms += 1000;
        expect(await store.take("a"), "after the wait").toBe(0);
      },
    );

    it("tells the wait of a client whose calls were in the window before", async () => {
      const store = open(RATE, clock);
      clock.ms += 50_000;
      await exhaust(store);
      clock.ms += 20_000;
      expect((await exhaust(store)).admitted).toBe(20);
      const { wait } = await exhaust(store);
      // Of the 120 before, 99 may count: 21 of 120 parts of the window have to pass, and 20 have.
      expect(wait).toBeCloseTo(0.5, 6);
    });

    it("slides: half a window on, half of the calls of the window before still count", async () => {
      const store = open(RATE, clock);
      await exhaust(store);
      clock.ms += 90_000;
      expect((await exhaust(store)).admitted).toBe(60);
    });

    it("forgets after two windows, and when the clock jumps back", async () => {
      const store = open(RATE, clock);
      await exhaust(store);
      clock.ms += 120_000;
      expect((await exhaust(store)).admitted).toBe(120);
      clock.ms -= 3_600_000;
      expect(await store.take("a")).toBe(0);
    });

    it.each([1, 20, 30_000, 60_000])("lets nobody in by a clock that is set back by %i ms", async (back) => {
      const store = open(RATE, clock);
      clock.ms += 59_990;
      await exhaust(store);
      clock.ms += 10;
      expect((await exhaust(store)).admitted).toBe(0);
      clock.ms += 30_000;
      expect((await exhaust(store)).admitted).toBe(60); // now counted in the window that the clock then leaves
      clock.ms -= 30_000;
      clock.ms -= back;
      const { admitted, wait } = await exhaust(store);
      expect(admitted).toBe(0);
      expect(wait).toBeLessThanOrEqual(120);
      clock.ms += back + 90_000;
      expect(await store.take("a")).toBe(0);
    });

    it("counts nothing for a call that it refuses", async () => {
      const store = open(RATE, clock);
      await exhaust(store);
      for (let call = 0; call < 500; call++) await store.take("a");
      clock.ms += 60_500;
      expect(await store.take("a")).toBe(0);
    });

    it("lets exactly the rate of 200 calls at once through", async () => {
      const store = open(RATE, clock);
      const waits = await Promise.all(Array.from({ length: 200 }, () => store.take("a")));
      expect(waits.filter((wait) => wait === 0)).toHaveLength(120);
    });

    it("tells clients apart whatever their names hold", async () => {
      const store = open({ calls: 1, seconds: 60 }, clock);
      const names = ["", "::1", "0:0:0:0::/64", "{a}", "{a}b", "a b", "a\r\nb", "é", "unknown"];
      for (const name of names) expect(await store.take(name), name).toBe(0);
      for (const name of names) expect(await store.take(name), name).toBeGreaterThan(0);
    });
  });
}
