import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { RetryPolicy } from "./retry-policy.ts";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

const open = () => new RetryPolicy((error) => error instanceof Error && error.message === "away");

it("tries again while it passes, and gives what comes then", async () => {
  let attempts = 0;
  const answer = open().run(async () => {
    if (++attempts < 4) throw new Error("away");
    return "here";
  });
  await vi.advanceTimersByTimeAsync(150);
  expect(await answer).toBe("here");
  expect([attempts, vi.getTimerCount()]).toEqual([4, 0]);
});

it("gives up after two seconds, with the last reason, and tries no more", async () => {
  let attempts = 0;
  const outcome = open()
    .run(async () => {
      attempts++;
      throw new Error("away");
    })
    .catch((error: Error) => error.message);
  await vi.advanceTimersByTimeAsync(2000);
  expect(await outcome).toBe("The bus did not answer within 2 s. away");
  const before = attempts;
  await vi.advanceTimersByTimeAsync(1000);
  expect(attempts).toBe(before);
});

it("asks a bus that is away no more often when many wait for it, and all at once when it answers", async () => {
  const patience = open();
  let attempts = 0;
  let isAway = true;
  const attempt = async () => {
    attempts++;
    if (isAway) throw new Error("away");
    return "here";
  };
  const answers = Array.from({ length: 1_000 }, () => patience.run(attempt));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(attempts).toBe(1_000 + 20);
  isAway = false;
  await vi.advanceTimersByTimeAsync(100);
  expect(new Set(await Promise.all(answers))).toEqual(new Set(["here"]));
  expect(vi.getTimerCount()).toBe(0);
});

it("lets the next one try when the one before never ends", async () => {
  const patience = open();
  let attempts = 0;
  const attempt = () => {
    attempts++;
    if (attempts === 4) return new Promise<string>(() => undefined);
    return attempts < 4 ? Promise.reject(new Error("away")) : Promise.resolve("here");
  };
  const answers = [1, 2, 3].map(() => patience.run(attempt).catch((error: Error) => error.message));
  await vi.advanceTimersByTimeAsync(2_000);
  expect(await Promise.all(answers)).toEqual(["The bus did not answer within 2 s. away", "here", "here"]);
});

it("gives up on what never answers", async () => {
  const outcome = open()
    .run(() => new Promise(() => undefined))
    .catch((error: Error) => error.message);
  await vi.advanceTimersByTimeAsync(1999);
  expect(vi.getTimerCount()).toBe(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(await outcome).toBe("The bus did not answer within 2 s.");
});

it("fails at once with what does not pass", async () => {
  await expect(open().run(() => Promise.reject(new Error("refused")))).rejects.toThrow("refused");
});

it("rejects what is pending when it is closed, and what comes", async () => {
  const patience = open();
  const refused = expect(patience.run(() => new Promise(() => undefined))).rejects.toThrow("The bus is closed.");
  patience.close();
  await refused;
  await expect(patience.run(async () => 1)).rejects.toThrow("The bus is closed.");
  expect(vi.getTimerCount()).toBe(0);
});
