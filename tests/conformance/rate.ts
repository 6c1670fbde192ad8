/**
 * The contract of a rate store (docs/protocol.md 9.2): the suite that every implementation passes.
 */
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import type { Rate, RateStore } from "../../src/rate-limit/index.ts";

/** A clock in milliseconds that the test controls. */
export interface Clock {
  ms: number;
}

/** Opens an empty store that uses the clock of the test. */
export type OpenStore = (rate: Rate, clock: Clock) => RateStore;

const RATE = { calls: 120, seconds: 60 };

/** The start of a minute, and of a bucket. */
export const WINDOW_START = 29_000_000 * 60_000;

/** Times after it at which tests begin, in milliseconds: a bucket of this rate has 5,000. */
const OFFSETS = [0, 1, 2_500, 4_999, 17_300, 59_999];

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

    it("accepts one call at a rate of one call per second, and the next one within 1.1 s", async () => {
      const store = open({ calls: 1, seconds: 1 }, clock);
      const { accepted, wait } = await exhaust(store);
      expect(accepted).toBe(1);
      expect(wait).toBeGreaterThan(1);
      expect(wait).toBeLessThanOrEqual(1.1);
      clock.ms += wait * 1000 - 1;
      expect(await store.take("a")).toBe(0.001);
      clock.ms += 1;
      expect(await store.take("a")).toBe(0);
    });

    it.each(OFFSETS)(
      "returns the time until the next call is accepted, to the millisecond, %i ms after the start of a minute",
      async (offset) => {
        const store = open(RATE, clock);
        clock.ms += offset;
        const { wait } = await exhaust(store);
        clock.ms += Math.round(wait * 1000) - 1;
        expect(await store.take("a"), "a millisecond before").toBe(0.001);
        clock.ms += 1;
        expect(await store.take("a"), "after the wait").toBe(0);
      },
    );

    it.each(OFFSETS)(
      "accepts at most 120 calls in 60 s, and all 120 after 65 s of silence, %i ms after the start of a minute",
      async (offset) => {
        const store = open(RATE, clock);
        clock.ms += offset;
        expect((await exhaust(store)).accepted).toBe(120);
        for (const ms of [1_000, 29_000, 29_999]) {
          clock.ms += ms; // 59.999 s in all
          expect((await exhaust(store)).accepted).toBe(0);
        }
        clock.ms += 65_000 - 59_999;
        expect((await exhaust(store)).accepted).toBe(120);
      },
    );

    it("never accepts more than 120 of the calls of two bursts, 30 s apart", async () => {
      const store = open(RATE, clock);
      clock.ms += 45_000;
      let accepted = (await exhaust(store)).accepted;
      for (let second = 0; second < 30; second++) {
        clock.ms += 1_000;
        accepted += (await exhaust(store)).accepted;
      }
      expect(accepted).toBe(120);
    });

    it.each(OFFSETS)("never refuses a steady 110 calls a minute that start %i ms after its start", async (offset) => {
      const store = open(RATE, clock);
      const start = clock.ms + offset;
      for (let call = 0; call < 110 * 5; call++) {
        clock.ms = Math.floor(start + (call * 60_000) / 110);
        expect(await store.take("a"), `call ${call}`).toBe(0);
      }
    });

    it("decides within the bounds of an exact log of the accepted calls, and every wait is exact [REQUEST-55]", async () => {
      const step = fc.record({
        ms: fc.oneof(fc.constant(0), fc.nat(3_000), fc.nat(15_000), fc.nat(200_000)),
        calls: fc.integer({ min: 1, max: 8 }),
        waits: fc.boolean(),
      });
      const rate = fc.record({
        calls: fc.integer({ min: 1, max: 12 }),
        seconds: fc.oneof(fc.integer({ min: 1, max: 60 }), fc.double({ min: 1, max: 60, noNaN: true })),
      });
      await fc.assert(
        fc.asyncProperty(rate, fc.nat(60_000), fc.array(step, { maxLength: 12 }), async (rate, offset, steps) => {
          clock.ms = WINDOW_START + offset;
          const store = open(rate, clock);
          const log: number[] = [];
          const callsSince = (ms: number) => log.filter((time) => time > clock.ms - ms).length;
          const take = async () => {
            const wait = await store.take("a");
            if (wait === 0) log.push(clock.ms);
            if (wait === 0) expect(callsSince(rate.seconds * 1000)).toBeLessThanOrEqual(rate.calls);
            else expect(callsSince(Math.ceil((rate.seconds * 1000) / 12) * 13)).toBeGreaterThanOrEqual(rate.calls);
            return wait;
          };
          for (const { ms, calls, waits } of steps) {
            clock.ms += ms;
            let wait = 0;
            for (let call = 0; call < calls; call++) wait = await take();
            if (wait === 0 || !waits) continue;
            clock.ms += Math.round(wait * 1000) - 1;
            expect(await take()).toBe(0.001);
            clock.ms += 1;
            expect(await take()).toBe(0);
          }
        }),
      );
    });

    it("no longer counts calls when the clock is set back by an hour", async () => {
      const store = open(RATE, clock);
      await exhaust(store);
      clock.ms -= 3_600_000;
      expect(await store.take("a")).toBe(0);
    });

    it.each([1, 20, 30_000, 60_000])(
      "accepts no further call of a blocked client when the clock is set back by %i ms, until it has caught up [REQUEST-56]",
      async (backMs) => {
        const store = open(RATE, clock);
        clock.ms += 59_990;
        await exhaust(store);
        clock.ms += 10;
        expect((await exhaust(store)).accepted).toBe(0);
        clock.ms -= backMs;
        const { accepted, wait } = await exhaust(store);
        expect(accepted).toBe(0);
        expect(wait).toBeLessThanOrEqual(65 + backMs / 1000);
        clock.ms += backMs + 59_900;
        expect((await exhaust(store)).accepted, "60 s after the calls").toBe(0);
        clock.ms += 65_000 - 59_900;
        expect((await exhaust(store)).accepted, "65 s after the calls").toBe(120);
      },
    );

    it("does not count the calls that it refuses", async () => {
      const store = open(RATE, clock);
      await exhaust(store);
      for (let call = 0; call < 500; call++) await store.take("a");
      clock.ms += 65_000;
      expect((await exhaust(store)).accepted).toBe(120);
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
