import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { recordedLog } from "#test/recorded-log";
import { SecretsCheck } from "./secrets-check.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function openCheck() {
  const { log, lines } = recordedLog();
  const store = vi.fn(async (_fingerprints: readonly string[]) => true);
  const check = new SecretsCheck({ namespace: "shop", deleteCommand: "delete it", log, store });
  return { check, store, lines };
}

it("stores nothing without a fingerprint, and all of them otherwise", async () => {
  const { check, store } = openCheck();
  await check.run();
  expect(store).not.toHaveBeenCalled();
  expect([check.add(["a", "b"]), check.add(["b"]), check.add(["c"])]).toEqual([true, false, true]);
  await check.run();
  expect(store.mock.calls).toEqual([[["a", "b", "c"]]]);
  check.close();
});

it("stores the fingerprints again every ten minutes, so that the record of a running process does not expire", async () => {
  const { check, store, lines } = openCheck();
  check.add(["a"]);
  await check.run();
  await vi.advanceTimersByTimeAsync(30 * 60_000);
  expect(store).toHaveBeenCalledTimes(4);
  store.mockRejectedValueOnce(new Error("unreachable"));
  await vi.advanceTimersByTimeAsync(20 * 60_000);
  expect(store).toHaveBeenCalledTimes(6);
  expect(lines).toEqual([]);
  check.close();
  await vi.advanceTimersByTimeAsync(60 * 60_000);
  expect(store).toHaveBeenCalledTimes(6);
});

it("logs once, and does not stop a process, when another application has taken the namespace later", async () => {
  const { check, store, lines } = openCheck();
  check.add(["a"]);
  await check.run();
  store.mockResolvedValue(false);
  await vi.advanceTimersByTimeAsync(60 * 60_000);
  expect(lines).toEqual([
    { level: "error", fields: { namespace: "shop" }, message: expect.stringContaining("delete it") },
  ]);
  await expect(check.run()).rejects.toThrow('another application uses the namespace "shop"');
  check.close();
});
