/**
 * The contract of a rate store (docs/protocol.md 9.2): the suite that every implementation passes.
 */
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { type SingleLimit, singleLimit } from "#test/single-limit";
import { CountLimit, type CountMode, type Rate, type RateStore } from "../../src/rate-limit/index.ts";

/** A clock in milliseconds that the test controls. */
export interface Clock {
  ms: number;
}

/** Opens an empty store that uses the clock of the test. */
export type OpenStore = (clock: Clock) => RateStore;

const RATE = { calls: 120, seconds: 60 };

/** The start of a minute, and of a bucket. */
export const WINDOW_START = 29_000_000 * 60_000;

/** Times after it at which tests begin, in milliseconds: a bucket of this rate has 1,000. */
const OFFSETS = [0, 1, 500, 999, 17_300, 59_999];

/**
 * Defines the tests of one implementation.
 *
 * @param name completes "the rate store …" in the report
 */
export function rateStoreTests(name: string, openStore: OpenStore): void {
  describe(`the rate store ${name}`, () => {
    let clock: Clock;
    beforeEach(() => {
      clock = { ms: WINDOW_START };
    });

    const open = (rate: Rate, at: Clock) => singleLimit(openStore(at), rate);

    /** Makes calls of a client until one is refused. Returns the number of accepted calls, and the wait. */
    async function exhaust(store: SingleLimit, key = "a"): Promise<{ accepted: number; wait: number }> {
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

    it("accepts one call at a rate of one call per second, and the next one within a sixtieth more", async () => {
      const store = open({ calls: 1, seconds: 1 }, clock);
      const { accepted, wait } = await exhaust(store);
      expect(accepted).toBe(1);
      expect(wait).toBeGreaterThan(1);
      expect(wait).toBeLessThanOrEqual(1.017); // whole milliseconds
      clock.ms += Math.round(wait * 1000) - 1;
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
      "accepts at most 120 calls in 60 s, and all 120 after 61 s of silence, %i ms after the start of a minute",
      async (offset) => {
        const store = open(RATE, clock);
        clock.ms += offset;
        expect((await exhaust(store)).accepted).toBe(120);
        for (const ms of [1_000, 29_000, 29_999]) {
          clock.ms += ms; // 59.999 s in all
          expect((await exhaust(store)).accepted).toBe(0);
        }
        clock.ms += 61_000 - 59_999;
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

    it.each(OFFSETS)("never refuses a steady 118 calls a minute that start %i ms after its start", async (offset) => {
      const store = open(RATE, clock);
      const start = clock.ms + offset;
      for (let call = 0; call < 118 * 5; call++) {
        clock.ms = Math.floor(start + (call * 60_000) / 118);
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
          const longestMs = Math.ceil((Math.ceil(rate.seconds * 1000) * 61) / 60);
          const callsSince = (ms: number) => log.filter((time) => time > clock.ms - ms).length;
          const take = async () => {
            const wait = await store.take("a");
            if (wait === 0) log.push(clock.ms);
            if (wait === 0) expect(callsSince(rate.seconds * 1000)).toBeLessThanOrEqual(rate.calls);
            else expect(Math.round(wait * 1000)).toBeLessThanOrEqual(longestMs);
            if (wait === 0) return wait;
            expect(callsSince((Math.ceil(rate.seconds * 1000) * 61) / 60)).toBeGreaterThanOrEqual(rate.calls);
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
        expect(wait).toBeLessThanOrEqual(61 + backMs / 1000);
        clock.ms += backMs + 59_900;
        expect((await exhaust(store)).accepted, "60 s after the calls").toBe(0);
        clock.ms += 61_000 - 59_900;
        expect((await exhaust(store)).accepted, "61 s after the calls").toBe(120);
      },
    );

    it("does not count the calls that it refuses", async () => {
      const store = open(RATE, clock);
      await exhaust(store);
      for (let call = 0; call < 500; call++) await store.take("a");
      clock.ms += 61_000;
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

    describe("with several limits", () => {
      const wide = new CountLimit("wide", { calls: 5, seconds: 60 }, "all");
      const narrow = new CountLimit("narrow", { calls: 2, seconds: 30 }, "one");
      const limits = [wide, narrow];
      const left = async (store: RateStore, limit: CountLimit, key: string) =>
        (await store.use(limit, key, { mode: "peek", cost: 0, strict: false })).left;

      it("counts a call under each key, or under none if one of them has nothing left", async () => {
        const store = openStore(clock);
        for (let call = 0; call < 2; call++) expect(await store.take(limits, ["all", "ada"])).toBeNull();
        expect([await left(store, wide, "all"), await left(store, narrow, "ada")]).toEqual([3, 0]);
        const refusal = await store.take(limits, ["all", "ada"]);
        expect(refusal?.limit).toBe(narrow);
        expect(refusal?.waitSeconds).toBeGreaterThan(30);
        expect(refusal?.waitSeconds).toBeLessThanOrEqual(30.5);
        expect(await left(store, wide, "all"), "after a refusal").toBe(3);
        for (const user of ["bob", "bob", "eve"]) expect(await store.take(limits, ["all", user])).toBeNull();
        expect((await store.take(limits, ["all", "eve"]))?.limit).toBe(wide);
        expect(await left(store, narrow, "eve"), "after a refusal").toBe(1);
      });

      it("returns the longest wait of those that have nothing left", async () => {
        const store = openStore(clock);
        for (let call = 0; call < 2; call++) await store.take(limits, ["all", "ada"]);
        clock.ms += 20_000;
        for (let call = 0; call < 3; call++) await store.take([wide], ["all"]);
        const refusal = await store.take(limits, ["all", "ada"]);
        expect(refusal).toEqual({ limit: wide, waitSeconds: 41 });
        const reversed = await store.take([narrow, wide], ["ada", "all"]);
        expect(reversed).toEqual(refusal);
      });

      it("keeps the counts of one key apart by the name and the span of the limit, and shares them whatever its calls", async () => {
        const store = openStore(clock);
        const rate = { calls: 1, seconds: 60 };
        const take = (limit: CountLimit) => store.take([limit], ["ada"]);
        expect(await take(new CountLimit("a", rate, "one"))).toBeNull();
        expect(await take(new CountLimit("b", rate, "one"))).toBeNull();
        expect(await take(new CountLimit("a", { ...rate, seconds: 61 }, "one"))).toBeNull();
        expect(await take(new CountLimit("a", rate, "one"))).not.toBeNull();
        expect(await take(new CountLimit("a", { ...rate, calls: 2 }, "one"))).toBeNull();
      });
    });

    describe("with a cost", () => {
      const limit = new CountLimit("words", { calls: 100, seconds: 60 }, "one");
      const use = (store: RateStore, mode: CountMode, cost: number) =>
        store.use(limit, "ada", { mode, cost, strict: false });

      it("counts a cost if anything is left, in full, and refuses the next one", async () => {
        const store = openStore(clock);
        expect(await use(store, "check", 99)).toEqual({ left: 1, waitSeconds: 0, resetSeconds: 61, isCounted: true });
        expect(await use(store, "check", 50)).toEqual({ left: 0, waitSeconds: 61, resetSeconds: 61, isCounted: true });
        expect(await use(store, "check", 1)).toMatchObject({ left: 0, isCounted: false });
        clock.ms += 60_999;
        expect(await use(store, "check", 1)).toMatchObject({ isCounted: false, waitSeconds: 0.001 });
        clock.ms += 1;
        expect(await use(store, "check", 0)).toEqual({ left: 100, waitSeconds: 0, resetSeconds: 0, isCounted: true });
      });

      it("forgets costs of any size, and goes on after sums that no number can represent exactly", async () => {
        const store = openStore(clock);
        const few = new CountLimit("few", { calls: 1, seconds: 60 }, "one");
        const charge = (cost: number) => store.use(few, "ada", { mode: "charge", cost, strict: true });
        for (const cost of [Number.MAX_SAFE_INTEGER, 4, Number.MAX_SAFE_INTEGER, 3]) {
          expect(await charge(cost)).toMatchObject({ left: 0, isCounted: true, waitSeconds: expect.any(Number) });
          clock.ms += 1_000;
        }
        clock.ms += 61_000;
        expect(await charge(0)).toEqual({ left: 1, waitSeconds: 0, resetSeconds: 0, isCounted: true });
        expect(await store.take([few], ["ada"])).toBeNull();
      });

      it("charges a cost above the limit, after which calls are refused until it no longer counts", async () => {
        const store = openStore(clock);
        expect(await use(store, "check", 0)).toMatchObject({ left: 100, isCounted: true });
        expect(await use(store, "charge", 250)).toMatchObject({ left: 0, waitSeconds: 61, isCounted: true });
        clock.ms += 30_000;
        expect(await use(store, "charge", 7)).toMatchObject({ waitSeconds: 31, resetSeconds: 61, isCounted: true });
        expect(await use(store, "check", 0)).toMatchObject({ left: 0, isCounted: false });
        clock.ms += 31_000;
        expect(await use(store, "check", 0)).toMatchObject({ left: 93, isCounted: true });
      });

      it("counts nothing when it is only looked at", async () => {
        const store = openStore(clock);
        for (let i = 0; i < 3; i++) {
          expect(await use(store, "peek", 60)).toEqual({
            left: 100,
            waitSeconds: 0,
            resetSeconds: 0,
            isCounted: false,
          });
        }
      });

      it("counts every one of 100 concurrent costs, and the sums of large numbers exactly", async () => {
        const store = openStore(clock);
        await Promise.all(Array.from({ length: 100 }, () => use(store, "charge", 1)));
        expect((await use(store, "peek", 0)).left).toBe(0);
        const large = new CountLimit("bytes", { calls: 2 ** 53 - 1, seconds: 60 }, "one");
        const charge = (cost: number) => store.use(large, "ada", { mode: "charge", cost, strict: false });
        await charge(2 ** 50 + 1);
        expect((await charge(2 ** 50 + 2)).left).toBe(2 ** 53 - 1 - 2 ** 51 - 3);
      });

      it("shares its counts with calls", async () => {
        const store = openStore(clock);
        await use(store, "charge", 99);
        expect(await store.take([limit], ["ada"])).toBeNull();
        expect(await store.take([limit], ["ada"])).toEqual({ limit, waitSeconds: 61 });
        expect(await use(store, "peek", 0)).toMatchObject({ left: 0 });
      });
    });
  });
}
