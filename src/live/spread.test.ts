import { expect, it } from "vitest";
import { isRetryOutdated, reconnectWindowMs, reloadWindowMs, retryMs } from "./spread.ts";

it.each([
  [1, undefined],
  [749, undefined],
  [750, undefined],
  [751, 3_004],
  [10_000, 40_000],
  [29_999, 119_996],
  [30_000, 120_000],
  [30_001, 120_000],
  [1_000_000, 120_000],
])("lets %i pages of a process reload within %s ms", (pages, windowMs) => {
  expect(reloadWindowMs(pages)).toBe(windowMs);
});

it.each([
  [1, 5_000],
  [9_999, 5_000],
  [10_000, 5_000],
  [10_002, 5_001],
  [50_000, 25_000],
  [119_998, 59_999],
  [120_000, 60_000],
  [120_001, 60_000],
  [1_000_000, 60_000],
])("lets %i clients of a process reconnect within %i ms", (connections, windowMs) => {
  expect(reconnectWindowMs(connections)).toBe(windowMs);
  expect(isRetryOutdated(connections)).toBe(windowMs > 5_000);
  const times = Array.from({ length: 1_000 }, () => retryMs(connections));
  expect(Math.min(...times)).toBeGreaterThanOrEqual(1_000);
  expect(Math.min(...times)).toBeLessThan(1_000 + windowMs / 20);
  expect(Math.max(...times)).toBeLessThanOrEqual(windowMs);
  expect(Math.max(...times)).toBeGreaterThan(windowMs * 0.95);
});
