import fs from "node:fs";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { blockEventLoop } from "#test/block-event-loop";
import { recordedLog } from "#test/recorded-log";
import { singleLimit } from "#test/single-limit";
import { ConfigError } from "../../config/index.ts";
import {
  type Balance,
  CountLimit,
  memoryRateStore,
  type RateStore,
  StoreUnavailableError,
} from "../../rate-limit/index.ts";
import { FallbackRateStore } from "./fallback-rate-store.ts";

const UNREACHABLE = "The shared rate limit store is unreachable; this process counts for itself";
const SLOW = (timeoutMs: number) =>
  `The shared rate limit store is slow: no response within ${timeoutMs} ms; this process counts for itself until it responds`;
const REACHABLE = "The shared rate limit store is reachable again; all processes share the counts";

/**
 * Opens a fallback store with a shared store that answers each operation with `answer(key)`, the seconds to wait, and a rate
 * of three calls. The key of probes is empty.
 */
function openStore(answer: (key: string) => number | Promise<number>) {
  const { log, lines } = recordedLog();
  const answered = vi.fn(answer);
  const shared: RateStore = {
    async take(limits, keys) {
      const [limit = PROBE] = limits;
      const waitSeconds = await answered(keys[0] ?? "");
      return waitSeconds === 0 ? null : { waitSeconds, limit };
    },
    async use(_, key): Promise<Balance> {
      const waitSeconds = await answered(key);
      return { left: 7, waitSeconds, resetSeconds: waitSeconds, isCounted: true };
    },
  };
  const local = memoryRateStore();
  const store = new FallbackRateStore({ shared, local, log });
  const { take } = singleLimit(store, { calls: 3, seconds: 60 });
  const rate = { take, start: () => store.start(), close: () => store.close() };
  return { shared: { take: answered }, store, rate, lines, logged: () => lines.map(({ message }) => message) };
}

const PROBE = new CountLimit("none", { calls: 1, seconds: 1 }, "none");

const never = () => new Promise<number>(() => undefined);

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("a FallbackRateStore whose shared store responds", () => {
  it("returns the result of the shared store", async () => {
    const { rate, logged } = openStore((key) => (key === "many" ? 17.5 : 0));
    for (let call = 0; call < 5; call++) expect(await rate.take("few")).toBe(0);
    expect(await rate.take("many")).toBe(17.5);
    expect(logged()).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("waits up to 250 ms for the result", async () => {
    const { rate, logged } = openStore(() => new Promise((resolve) => setTimeout(resolve, 249, 9)));
    const wait = rate.take("a");
    await vi.advanceTimersByTimeAsync(249);
    expect(await wait).toBe(9);
    expect(logged()).toEqual([]);
  });
});

describe("a FallbackRateStore whose shared store is unreachable", () => {
  it("counts this call and all further ones in the local store, and logs it once", async () => {
    const { rate, shared, lines } = openStore(() => Promise.reject(new Error("connect ECONNREFUSED")));
    expect([await rate.take("a"), await rate.take("a"), await rate.take("a")]).toEqual([0, 0, 0]);
    expect(await rate.take("a")).toBeGreaterThan(0);
    expect(shared.take).toHaveBeenCalledTimes(1);
    expect(lines).toEqual([{ level: "warn", fields: { reason: "connect ECONNREFUSED" }, message: UNREACHABLE }]);
    rate.close();
  });

  it("logs that the store refuses writes when its server responds with an error, as with a full memory", async () => {
    const full = Object.assign(new Error("OOM command not allowed when used memory > 'maxmemory'."), {
      name: "ReplyError",
    });
    let isFull = true;
    const { rate, lines } = openStore(() => (isFull ? Promise.reject(full) : 0));
    expect(await rate.take("a")).toBe(0);
    const message = "The shared rate limit store refuses writes; this process counts for itself";
    expect(lines).toEqual([{ level: "warn", fields: { reason: full.message }, message }]);
    isFull = false;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(lines.at(-1)?.message).toBe(
      "The shared rate limit store accepts writes again; all processes share the counts",
    );
    rate.close();
  });

  it("delays the first call by 250 ms when the shared store never responds, and no further call", async () => {
    const { rate, logged } = openStore(never);
    let wait: number | undefined;
    void Promise.resolve(rate.take("a")).then((answer) => {
      wait = answer;
    });
    await vi.advanceTimersByTimeAsync(249);
    expect(wait).toBeUndefined();
    await vi.advanceTimersByTimeAsync(2);
    expect(wait).toBe(0);
    expect(rate.take("a")).toBe(0); // synchronously
    expect(logged()).toEqual([SLOW(250)]);
    await vi.advanceTimersByTimeAsync(4_700);
    expect(logged()).toEqual([SLOW(250)]);
    await vi.advanceTimersByTimeAsync(100);
    expect(logged()).toEqual([SLOW(250), UNREACHABLE]);
    rate.close();
  });

  it("continues with the counts of the calls that the shared store accepted before", async () => {
    let isUnreachable = false;
    const { rate } = openStore(() => (isUnreachable ? Promise.reject(new Error("unreachable")) : 0));
    for (let call = 0; call < 2; call++) expect(await rate.take("a")).toBe(0);
    isUnreachable = true;
    expect(await rate.take("a")).toBe(0);
    expect(await rate.take("a")).toBeGreaterThan(0);
    rate.close();
  });

  it("probes the shared store once a second, and uses it again after its first response", async () => {
    let isUnreachable = true;
    const { rate, shared, logged } = openStore(() => (isUnreachable ? Promise.reject(new Error("unreachable")) : 42));
    expect(await rate.take("a")).toBe(0);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(shared.take).toHaveBeenCalledTimes(1 + 5);
    expect(logged()).toEqual([UNREACHABLE]);
    isUnreachable = false;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(logged()).toEqual([UNREACHABLE, REACHABLE]);
    expect(await rate.take("a")).toBe(42);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("sends one probe at a time to a shared store that never responds", async () => {
    const { rate, shared } = openStore(never);
    void rate.take("a");
    await vi.advanceTimersByTimeAsync(60_000);
    expect(shared.take).toHaveBeenCalledTimes(2);
    rate.close();
  });

  it("logs again when the shared store becomes unreachable again", async () => {
    let isUnreachable = true;
    const { rate, logged } = openStore(() => (isUnreachable ? Promise.reject(new Error("unreachable")) : 0));
    await rate.take("a");
    isUnreachable = false;
    await vi.advanceTimersByTimeAsync(1_000);
    isUnreachable = true;
    await rate.take("a");
    expect(logged()).toEqual([UNREACHABLE, REACHABLE, UNREACHABLE]);
    rate.close();
  });

  it("probes an unstable store less often, and once a second again after it was stable for a minute", async () => {
    // Like a full Redis, which refuses new keys: only the key of the probe exists already.
    const { rate, logged } = openStore((key) => (key === "a" ? Promise.reject(new Error("full")) : 0));
    for (let second = 0; second < 600; second++) {
      await rate.take("a");
      await vi.advanceTimersByTimeAsync(1_000);
    }
    // The store counts as unreachable for 1, 2, 4, … 32 and then 60 seconds at a time.
    expect(logged().length).toBeGreaterThanOrEqual(12);
    expect(logged().length).toBeLessThanOrEqual(32);
    while (logged().at(-1) === UNREACHABLE) await vi.advanceTimersByTimeAsync(1_000);
    await vi.advanceTimersByTimeAsync(60_000);
    await rate.take("a");
    await vi.advanceTimersByTimeAsync(1_000);
    expect(logged().slice(-2)).toEqual([UNREACHABLE, REACHABLE]);
    rate.close();
  });

  it("stops probing when it is closed", async () => {
    const { rate, shared } = openStore(() => Promise.reject(new Error("unreachable")));
    await rate.take("a");
    rate.close();
    expect(vi.getTimerCount()).toBe(0);
    const calls = shared.take.mock.calls.length;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(shared.take).toHaveBeenCalledTimes(calls);
  });
});

describe("a FallbackRateStore whose shared store is slow", () => {
  const answerIn = (ms: number) => () => new Promise<number>((resolve) => setTimeout(resolve, ms, 9));

  it("counts late calls for itself, and logs their number once a minute, but no outage", async () => {
    const { rate, lines } = openStore(answerIn(300));
    for (let second = 0; second < 600; second++) {
      void rate.take("a");
      await vi.advanceTimersByTimeAsync(1_000);
    }
    const fields = lines.map((line) => line.fields) as { reason: string; calls: number }[];
    expect(lines[0]).toEqual({ level: "warn", fields: { reason: "slow", calls: 1 }, message: SLOW(250) });
    expect(lines[1]?.message).toMatch(
      /^The shared rate limit store was slow for [2-9] calls in the last minute\. The latest: .*250 ms/,
    );
    expect(fields.every(({ reason, calls }) => reason === "slow" && calls >= 1)).toBe(true);
    expect(lines.length).toBeLessThanOrEqual(11);
    rate.close();
  });

  it("uses it again after the first response, without a line", async () => {
    let answer: () => number | Promise<number> = answerIn(4_000);
    const { rate, logged } = openStore(() => answer());
    void rate.take("a");
    await vi.advanceTimersByTimeAsync(300);
    answer = () => 42;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await rate.take("a")).toBe(42);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(logged()).toEqual([SLOW(250)]);
    rate.close();
  });

  it("logs the outage with its cause when the connection is lost meanwhile, and its end", async () => {
    let answer: () => number | Promise<number> = () =>
      new Promise<number>((_, reject) => setTimeout(reject, 600, new Error("read ECONNRESET")));
    const { rate, lines } = openStore(() => answer());
    void rate.take("a");
    await vi.advanceTimersByTimeAsync(600);
    answer = () => 0;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(lines.map(({ message }) => message)).toEqual([SLOW(250), UNREACHABLE, REACHABLE]);
    expect(lines[1]?.fields).toEqual({ reason: "read ECONNRESET" });
    rate.close();
  });

  it("logs an outage when a probe is not answered for five seconds, although the late call was", async () => {
    let answer: () => number | Promise<number> = answerIn(300);
    const { rate, logged } = openStore(() => answer());
    void rate.take("a");
    await vi.advanceTimersByTimeAsync(300);
    answer = never;
    await vi.advanceTimersByTimeAsync(5_900);
    expect(logged()).toEqual([SLOW(250)]);
    await vi.advanceTimersByTimeAsync(100);
    expect(logged()).toEqual([SLOW(250), UNREACHABLE]);
    rate.close();
  });
});

it("accepts a response that arrived in time but was not read because the process was busy", async () => {
  vi.useRealTimers();
  const { rate, logged } = openStore(
    () =>
      // Like an answer from a socket: it arrives before the timeout, and is read in the next turn of the event loop.
      new Promise((resolve) => {
        fs.stat(".", () => resolve(7));
      }),
  );
  const wait = rate.take("a");
  blockEventLoop(400);
  expect(await wait).toBe(7);
  expect(logged()).toEqual([]);
});

describe("a use of a FallbackRateStore", () => {
  const limit = new CountLimit("key", { calls: 3, seconds: 60 }, "one key");
  const use = { mode: "check", cost: 1 } as const;

  it("returns the balance of the shared store, and counts here what it has counted there", async () => {
    let isUnreachable = false;
    const { store } = openStore(() => (isUnreachable ? Promise.reject(new Error("unreachable")) : 0));
    expect(await store.use(limit, "a", { ...use, strict: true })).toMatchObject({ left: 7 });
    isUnreachable = true;
    expect(await store.use(limit, "a", { ...use, strict: false })).toMatchObject({ left: 1, isCounted: true });
    store.close();
  });

  it("counts in its process while the shared store is unreachable, and fails if it is strict", async () => {
    const { store, logged } = openStore(() => Promise.reject(new Error("unreachable")));
    const strict = async () => store.use(limit, "a", { ...use, strict: true });
    await expect(strict()).rejects.toThrow(StoreUnavailableError); // the one that has noticed it
    await expect(strict()).rejects.toThrow(StoreUnavailableError); // and a later one, which sends nothing
    expect(await store.use(limit, "a", { ...use, strict: false })).toMatchObject({ left: 2, isCounted: true });
    expect(logged()).toEqual([UNREACHABLE]);
    store.close();
  });

  it("fails after 250 ms if it is strict and nothing is answered", async () => {
    const { store } = openStore(never);
    const failed = expect(store.use(limit, "a", { ...use, strict: true })).rejects.toThrow(StoreUnavailableError);
    await vi.advanceTimersByTimeAsync(251);
    await failed;
    store.close();
  });
});

describe("the start of a FallbackRateStore", () => {
  it("waits for the shared store to respond, and logs at once when it is unreachable", async () => {
    const good = openStore(() => 0);
    await good.rate.start();
    expect(good.logged()).toEqual([]);
    const bad = openStore(() => Promise.reject(new Error("unreachable")));
    await bad.rate.start();
    expect(bad.logged()).toEqual([UNREACHABLE]);
    bad.rate.close();
  });

  it("continues after a second without a response", async () => {
    const { rate, logged } = openStore(never);
    const started = rate.start();
    await vi.advanceTimersByTimeAsync(1_001);
    await started;
    expect(logged()).toEqual([SLOW(1_000)]);
    await vi.advanceTimersByTimeAsync(4_100);
    expect(logged()).toEqual([SLOW(1_000), UNREACHABLE]);
    rate.close();
  });

  it("throws a ConfigError when the shared store can never be used, whereas a call uses the local store", async () => {
    const problem = { variable: "WEB_BUS_URL", problem: "names a package that is not installed.", fix: "Install it." };
    const { rate, logged } = openStore(() => Promise.reject(new ConfigError([problem])));
    await expect(rate.start()).rejects.toThrow(ConfigError);
    expect(await rate.take("a")).toBe(0);
    expect(logged()).toEqual([UNREACHABLE]);
    rate.close();
  });
});
