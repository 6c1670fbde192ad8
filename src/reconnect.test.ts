import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { recordedLog } from "#test/recorded-log";
import { backoffMs, coalesce, ReachabilityLog, waitAtMost } from "./reconnect.ts";

const anyAttempt = fc.integer({ min: 1, max: 100_000 });
const anyRandom = fc.double({ min: 0, max: 1, noNaN: true });

describe("backoffMs", () => {
  it("doubles the upper bound with each attempt, up to two seconds", () => {
    expect([1, 2, 3, 6, 7, 1000, 100_000].map((attempt) => backoffMs(attempt, 1))).toEqual([
      50, 100, 200, 1600, 2000, 2000, 2000,
    ]);
    expect(backoffMs(1, 0)).toBe(25);
    expect(backoffMs(100, 0)).toBe(1000);
  });

  it("stays between half of the bound and the bound, whatever the random number is", () => {
    fc.assert(
      fc.property(anyAttempt, anyRandom, (attempt, random) => {
        const bound = backoffMs(attempt, 1);
        const delay = backoffMs(attempt, random);
        expect(delay).toBeGreaterThanOrEqual(bound / 2);
        expect(delay).toBeLessThanOrEqual(bound);
      }),
    );
  });

  it("returns different delays for random numbers whose delays are at least 1 ms apart", () => {
    fc.assert(
      fc.property(anyAttempt, anyRandom, anyRandom, (attempt, one, two) => {
        const millisecond = 2 / backoffMs(attempt, 1); // of the range of the random number
        fc.pre(two - one > millisecond);
        expect(backoffMs(attempt, one)).toBeLessThan(backoffMs(attempt, two));
      }),
    );
  });

  it("draws a new random number for each call by default", () => {
    const delays = Array.from({ length: 50 }, () => backoffMs(100));
    // 50 delays out of 1,001 possible ones: the probability that all are equal is below 10^-140.
    expect(new Set(delays).size).toBeGreaterThan(1);
  });
});

describe("waitAtMost", () => {
  it("returns the result of the promise, and rejects with its error", async () => {
    expect(await waitAtMost(Promise.resolve("value"), 60_000, "late")).toBe("value");
    await expect(waitAtMost(Promise.reject(new Error("refused")), 60_000, "late")).rejects.toThrow("refused");
  });

  it("returns the other value if the promise is pending for longer", async () => {
    expect(await waitAtMost(new Promise(() => {}), 10, "late")).toBe("late");
  });

  it("keeps a process running that only waits, and no longer than it waits", () => {
    const program = `
    ${waitAtMost.toString()}
    await waitAtMost(Promise.resolve(), 2 ** 31 - 1, "late");
    console.log(await waitAtMost(new Promise(() => {}), 10, "late"));`;
    const { status, stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", program]);
    expect([status, String(stdout), String(stderr)]).toEqual([0, "late\n", ""]);
  });
});

describe("ReachabilityLog", () => {
  function openLog() {
    const { log, lines } = recordedLog();
    const reachability = new ReachabilityLog({ service: "Redis", fields: { redis: "host:1" }, log });
    return { reachability, lines };
  }

  it("logs one line when a service becomes unreachable and one when it is reachable again", () => {
    const { reachability, lines } = openLog();
    reachability.reachable();
    for (const reason of ["refused", "refused again"]) reachability.unreachable(reason);
    for (let times = 0; times < 2; times++) reachability.reachable();
    reachability.unreachable("refused later");
    expect(lines).toEqual([
      { level: "warn", fields: { redis: "host:1", reason: "refused" }, message: "Redis is unreachable; retrying" },
      { level: "info", fields: { redis: "host:1" }, message: "Redis is reachable again" },
      {
        level: "warn",
        fields: { redis: "host:1", reason: "refused later" },
        message: "Redis is unreachable; retrying",
      },
    ]);
  });

  it("logs no failure after it was closed", () => {
    const { reachability, lines } = openLog();
    reachability.close();
    reachability.unreachable("The connection was closed.");
    expect(lines).toEqual([]);
  });
});

describe("coalesce", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });

  afterEach(() => {
    vi.useRealTimers();
  });

  /** Returns a coalesced operation that takes 100 ms, and the times at which it was started. */
  function open(intervalMs?: number) {
    const startedAtMs = performance.now();
    const starts: number[] = [];
    const run = coalesce(async (fails: boolean) => {
      const number = starts.push(performance.now() - startedAtMs);
      await new Promise((resolve) => setTimeout(resolve, 100));
      if (fails) throw new Error(`failure ${number}`);
      return number;
    }, intervalMs);
    return { run, starts };
  }

  it("gives each call the result of a run that has started after it, and starts one run for all that wait", async () => {
    const { run, starts } = open();
    const first = [run(false), run(false)];
    await vi.advanceTimersByTimeAsync(50);
    const second = [run(false), run(false), run(false)];
    await vi.advanceTimersByTimeAsync(300);
    expect(await Promise.all([...first, ...second])).toEqual([1, 1, 2, 2, 2]);
    expect(starts).toEqual([0, 100]);
  });

  it("starts no more than one run in the interval, also after a failure", async () => {
    const { run, starts } = open(1_000);
    const first = expect(run(true)).rejects.toThrow("failure 1");
    await vi.advanceTimersByTimeAsync(150);
    await first;
    const second = run(false);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await second).toBe(2);
    expect(starts).toEqual([0, 1_000]);
  });
});
