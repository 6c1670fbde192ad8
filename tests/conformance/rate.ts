/**
 * The contract of a rate store (docs/protocol.md 9.2): the suite that every implementation passes.
 */
import { beforeEach, describe, expect, it } from "vitest";
import type { Rate, RateStore } from "../../src/rate-limit/index.ts";

/** A clock in milliseconds that the test controls. */
export interface Clock {
  ms: number;
}

/** Opens an empty store that uses the clock of the test. */
export type OpenStore = (rate: Rate, clock: Clock) => RateStore;

const RATE = { calls: 120, seconds: 60 };

/** The start of a window of 60 seconds. */
export const WINDOW_START = 29_000_000 * 60_000;

/**
 * Defines the tests of one implementation.
 *
 * @param name completes "the rate store …" in the report
 */
export function rateStoreTests(name: string, open: OpenStore): void {
  describe(`the rate store ${name}`, () => {
    let clock: Clock;
    beforeEach(() => {
      clock = { ms: WINDOW_START };
    });

    /** Makes calls of a client until one is refused. Returns the number of accepted calls, and the wait. */
    async function exhaust(store: RateStore, key = "a"): Promise<{ accepted: number; wait: number }> {
      for (let accepted = 0; ; accepted++) {
        const wait = await store.take(key);
        if (wait !== 0) return { accepted, wait };
      }
    }

    it("accepts as many calls of each client as the rate allows, and refuses the next one", async () => {
      const store = open(RATE, clock);
      expect((await exhaust(store)).accepted).toBe(120);
      expect(await store.take("a")).toBeGreaterThan(0);
      expect((await exhaust(store, "b")).accepted).toBe(120);
    });

    it("accepts one call at a rate of one call per second, and the next one two seconds later", async () => {
      const store = open({ calls: 1, seconds: 1 }, clock);
      expect(await exhaust(store)).toEqual({ accepted: 1, wait: 2 });
      clock.ms += 1999;
      expect(await store.take("a")).toBeGreaterThan(0);
      clock.ms += 1;
      expect(await store.take("a")).toBe(0);
    });

    it.each([0, 1, 17_300, 30_000, 59_999])(
      "returns the time until the next call is accepted, to the second, %i ms after the start of a window",
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

    it("returns the wait of a client whose calls were in the previous window", async () => {
      const store = open(RATE, clock);
      clock.ms += 50_000;
      await exhaust(store);
      clock.ms += 20_000;
      expect((await exhaust(store)).accepted).toBe(20);
      const { wait } = await exhaust(store);
      // 99 of the 120 earlier calls may still count: 21/120 of the window have to pass, and 20/120 have passed.
      expect(wait).toBeCloseTo(0.5, 6);
    });

    it("counts half of the calls of the previous window in the middle of a window", async () => {
      const store = open(RATE, clock);
      await exhaust(store);
      clock.ms += 90_000;
      expect((await exhaust(store)).accepted).toBe(60);
    });

    it("no longer counts calls after two windows, and when the clock is set back by an hour", async () => {
      const store = open(RATE, clock);
      await exhaust(store);
      clock.ms += 120_000;
      expect((await exhaust(store)).accepted).toBe(120);
      clock.ms -= 3_600_000;
      expect(await store.take("a")).toBe(0);
    });

    it.each([1, 20, 30_000, 60_000])(
      "accepts no further call of a blocked client when the clock is set back by %i ms",
      async (backMs) => {
        const store = open(RATE, clock);
        clock.ms += 59_990;
        await exhaust(store);
        clock.ms += 10;
        expect((await exhaust(store)).accepted).toBe(0);
        clock.ms += 30_000;
        expect((await exhaust(store)).accepted).toBe(60); // counted in the window that the clock leaves next
        clock.ms -= 30_000;
        clock.ms -= backMs;
        const { accepted, wait } = await exhaust(store);
        expect(accepted).toBe(0);
        expect(wait).toBeLessThanOrEqual(120);
        clock.ms += backMs + 90_000;
        expect(await store.take("a")).toBe(0);
      },
    );

    it("does not count the calls that it refuses", async () => {
      const store = open(RATE, clock);
      await exhaust(store);
      for (let call = 0; call < 500; call++) await store.take("a");
      clock.ms += 60_500;
      expect(await store.take("a")).toBe(0);
    });

    it("accepts exactly 120 of 200 concurrent calls", async () => {
      const store = open(RATE, clock);
      const waits = await Promise.all(Array.from({ length: 200 }, () => store.take("a")));
      expect(waits.filter((wait) => wait === 0)).toHaveLength(120);
    });

    it("counts clients separately, also if their keys have special characters", async () => {
      const store = open({ calls: 1, seconds: 60 }, clock);
      const names = ["", "::1", "0:0:0:0::/64", "{a}", "{a}b", "a b", "a\r\nb", "é", "unknown"];
      for (const name of names) expect(await store.take(name), name).toBe(0);
      for (const name of names) expect(await store.take(name), name).toBeGreaterThan(0);
    });
  });
}
