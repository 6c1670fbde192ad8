import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { RetryPolicy } from "./retry-policy.ts";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

const createPolicy = () => new RetryPolicy((error) => error instanceof Error && error.message === "unreachable");

describe("RetryPolicy", () => {
  it("retries while the error is transient, and returns the result of the attempt that succeeds", async () => {
    let attempts = 0;
    const result = createPolicy().run(async () => {
      if (++attempts < 4) throw new Error("unreachable");
      return "result";
    });
    await vi.advanceTimersByTimeAsync(150);
    expect(await result).toBe("result");
    expect([attempts, vi.getTimerCount()]).toEqual([4, 0]);
  });

  it("rejects after two seconds with the last reason, and stops retrying", async () => {
    let attempts = 0;
    const outcome = createPolicy()
      .run(async () => {
        attempts++;
        throw new Error("unreachable");
      })
      .catch((error: Error) => error.message);
    await vi.advanceTimersByTimeAsync(2000);
    expect(await outcome).toBe("The bus did not respond within 2 s. unreachable");
    const before = attempts;
    await vi.advanceTimersByTimeAsync(1000);
    expect(attempts).toBe(before);
  });

  it("retries 1,000 operations as often as one while the bus is unreachable, and all at once when it responds", async () => {
    const policy = createPolicy();
    let attempts = 0;
    let isUnreachable = true;
    const attempt = async () => {
      attempts++;
      if (isUnreachable) throw new Error("unreachable");
      return "result";
    };
    const results = Array.from({ length: 1_000 }, () => policy.run(attempt));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(attempts).toBe(1_000 + 20);
    isUnreachable = false;
    await vi.advanceTimersByTimeAsync(100);
    expect(new Set(await Promise.all(results))).toEqual(new Set(["result"]));
    expect(vi.getTimerCount()).toBe(0);
  });

  it("retries the next operation when the attempt of the one before never settles", async () => {
    const policy = createPolicy();
    let attempts = 0;
    const attempt = () => {
      attempts++;
      if (attempts === 4) return new Promise<string>(() => undefined);
      return attempts < 4 ? Promise.reject(new Error("unreachable")) : Promise.resolve("result");
    };
    const results = [1, 2, 3].map(() => policy.run(attempt).catch((error: Error) => error.message));
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await Promise.all(results)).toEqual(["The bus did not respond within 2 s. unreachable", "result", "result"]);
  });

  it("rejects after two seconds when the first attempt never settles", async () => {
    const outcome = createPolicy()
      .run(() => new Promise(() => undefined))
      .catch((error: Error) => error.message);
    await vi.advanceTimersByTimeAsync(1999);
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(await outcome).toBe("The bus did not respond within 2 s.");
  });

  it("rejects at once with an error that is not transient", async () => {
    await expect(createPolicy().run(() => Promise.reject(new Error("refused")))).rejects.toThrow("refused");
  });

  it("rejects pending and further operations when it is closed", async () => {
    const policy = createPolicy();
    const rejected = expect(policy.run(() => new Promise(() => undefined))).rejects.toThrow("The bus is closed.");
    policy.close();
    await rejected;
    await expect(policy.run(async () => 1)).rejects.toThrow("The bus is closed.");
    expect(vi.getTimerCount()).toBe(0);
  });
});
