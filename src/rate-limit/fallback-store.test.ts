import fs from "node:fs";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { recordedLog } from "#test/recorded-log";
import { ConfigError } from "../config/config.ts";
import { memoryRateStore } from "./memory-store.ts";
import { FallbackRateStore } from "./fallback-store.ts";

const AWAY = "The shared rate store is away: this process counts calls by itself";
const BACK = "The shared rate store is back: processes count calls together";

/** A shared store that does as the test says, an own one of three calls, and the two together. */
function setUp(answer: (key: string) => number | Promise<number>) {
  const { log, lines } = recordedLog();
  const shared = { take: vi.fn(answer) };
  const rate = new FallbackRateStore({ shared, own: memoryRateStore({ calls: 3, seconds: 60 }), log });
  return { shared, rate, lines, said: () => lines.map(({ message }) => message) };
}

const never = () => new Promise<number>(() => undefined);

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("a shared store that answers", () => {
  it("decides", async () => {
    const { rate, said } = setUp((key) => (key === "many" ? 17.5 : 0));
    for (let call = 0; call < 5; call++) expect(await rate.take("few")).toBe(0);
    expect(await rate.take("many")).toBe(17.5);
    expect(said()).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("is waited for up to 250 ms", async () => {
    const { rate, said } = setUp(() => new Promise((resolve) => setTimeout(resolve, 249, 9)));
    const wait = rate.take("a");
    await vi.advanceTimersByTimeAsync(249);
    expect(await wait).toBe(9);
    expect(said()).toEqual([]);
  });
});

describe("a shared store that is away", () => {
  it("leaves the call, and all that follow, to this process's own count, and the log is told once", async () => {
    const { rate, shared, lines } = setUp(() => Promise.reject(new Error("connect ECONNREFUSED")));
    expect([await rate.take("a"), await rate.take("a"), await rate.take("a")]).toEqual([0, 0, 0]);
    expect(await rate.take("a")).toBeGreaterThan(0);
    expect(shared.take).toHaveBeenCalledTimes(1);
    expect(lines).toEqual([{ level: "warn", fields: { reason: "connect ECONNREFUSED" }, message: AWAY }]);
    rate.close();
  });

  it("holds a call up for 250 ms when it never answers, and none that follows", async () => {
    const { rate, said } = setUp(never);
    let wait: number | undefined;
    void Promise.resolve(rate.take("a")).then((answer) => {
      wait = answer;
    });
    await vi.advanceTimersByTimeAsync(249);
    expect(wait).toBeUndefined();
    await vi.advanceTimersByTimeAsync(2);
    expect(wait).toBe(0);
    expect(rate.take("a")).toBe(0); // at once, not by a promise
    expect(said()).toEqual([AWAY]);
    rate.close();
  });

  it("was counted along: what it let through counts on", async () => {
    let isAway = false;
    const { rate } = setUp(() => (isAway ? Promise.reject(new Error("away")) : 0));
    for (let call = 0; call < 2; call++) expect(await rate.take("a")).toBe(0);
    isAway = true;
    expect(await rate.take("a")).toBe(0);
    expect(await rate.take("a")).toBeGreaterThan(0);
    rate.close();
  });

  it("is asked once a second, and decides again from its first answer on", async () => {
    let isAway = true;
    const { rate, shared, said } = setUp(() => (isAway ? Promise.reject(new Error("away")) : 42));
    expect(await rate.take("a")).toBe(0);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(shared.take).toHaveBeenCalledTimes(1 + 5);
    expect(said()).toEqual([AWAY]);
    isAway = false;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(said()).toEqual([AWAY, BACK]);
    expect(await rate.take("a")).toBe(42);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("is asked by one question at a time when it hangs", async () => {
    const { rate, shared } = setUp(never);
    void rate.take("a");
    await vi.advanceTimersByTimeAsync(60_000);
    expect(shared.take).toHaveBeenCalledTimes(2);
    rate.close();
  });

  it("is told again when it goes again", async () => {
    let isAway = true;
    const { rate, said } = setUp(() => (isAway ? Promise.reject(new Error("away")) : 0));
    await rate.take("a");
    isAway = false;
    await vi.advanceTimersByTimeAsync(1_000);
    isAway = true;
    await rate.take("a");
    expect(said()).toEqual([AWAY, BACK, AWAY]);
    rate.close();
  });

  it("is asked less often when it comes and goes, and each second again once it was steady", async () => {
    // As one that has no room for new clients: it answers to the one that it is asked as.
    const { rate, said } = setUp((key) => (key === "a" ? Promise.reject(new Error("full")) : 0));
    for (let second = 0; second < 600; second++) {
      await rate.take("a");
      await vi.advanceTimersByTimeAsync(1_000);
    }
    // Away for 1, 2, 4, … 32 and then 60 seconds at a time.
    expect(said().length).toBeGreaterThanOrEqual(12);
    expect(said().length).toBeLessThanOrEqual(32);
    while (said().at(-1) === AWAY) await vi.advanceTimersByTimeAsync(1_000);
    await vi.advanceTimersByTimeAsync(60_000);
    await rate.take("a");
    await vi.advanceTimersByTimeAsync(1_000);
    expect(said().slice(-2)).toEqual([AWAY, BACK]);
    rate.close();
  });

  it("is asked no more once this is closed", async () => {
    const { rate, shared } = setUp(() => Promise.reject(new Error("away")));
    await rate.take("a");
    rate.close();
    expect(vi.getTimerCount()).toBe(0);
    const calls = shared.take.mock.calls.length;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(shared.take).toHaveBeenCalledTimes(calls);
  });
});

it("takes an answer that lay unread while the process itself was busy", async () => {
  vi.useRealTimers();
  const { rate, said } = setUp(
    () =>
      // As from a socket: it is there long before the time is up, and read once the loop turns.
      new Promise((resolve) => {
        fs.stat(".", () => resolve(7));
      }),
  );
  const wait = rate.take("a");
  const busyUntil = performance.now() + 400;
  while (performance.now() < busyUntil);
  expect(await wait).toBe(7);
  expect(said()).toEqual([]);
});

describe("the start", () => {
  it("waits for a store that answers, and says at once when it is away", async () => {
    const good = setUp(() => 0);
    await good.rate.start();
    expect(good.said()).toEqual([]);
    const bad = setUp(() => Promise.reject(new Error("away")));
    await bad.rate.start();
    expect(bad.said()).toEqual([AWAY]);
    bad.rate.close();
  });

  it("goes ahead after a second without an answer", async () => {
    const { rate, said } = setUp(never);
    const started = rate.start();
    await vi.advanceTimersByTimeAsync(1_001);
    await started;
    expect(said()).toEqual([AWAY]);
    rate.close();
  });

  it("is refused for a store that can never be used; a call is not", async () => {
    const problem = { variable: "WEB_BUS_URL", problem: "names what is not there.", mend: "Install it." };
    const { rate, said } = setUp(() => Promise.reject(new ConfigError([problem])));
    await expect(rate.start()).rejects.toThrow(ConfigError);
    expect(await rate.take("a")).toBe(0);
    expect(said()).toEqual([AWAY]);
    rate.close();
  });
});
