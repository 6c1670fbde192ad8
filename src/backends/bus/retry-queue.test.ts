import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { coalesce } from "./retry-queue.ts";

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
