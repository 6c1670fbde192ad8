import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { EventLoopDelay } from "./health.ts";

let delay: EventLoopDelay;
/** For how long synchronous code has prevented timers from firing. */
let blockedMs: number;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
  delay = new EventLoopDelay();
  blockedMs = 0;
  const now = performance.now.bind(performance);
  vi.spyOn(performance, "now").mockImplementation(() => now() + blockedMs);
});
afterEach(() => {
  delay.close();
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** Blocks right after a timer has fired, and lets the late one fire. */
function block(ms: number): void {
  vi.advanceTimersToNextTimer();
  blockedMs += ms - 100; // the timer is due after 100 ms of them
  vi.advanceTimersToNextTimer();
}

describe("the maximum of the event loop's delay", () => {
  it("has a block of 3 seconds that no reading has met, for 60 seconds, and then no more", () => {
    delay.readMaximum();
    block(3_000);
    expect(delay.readMaximum()).toBe(2_900);
    vi.advanceTimersByTime(15_000);
    expect(delay.read()).toBe(0);
    expect(delay.readMaximum()).toBe(2_900);
    vi.advanceTimersByTime(44_900);
    expect(delay.readMaximum()).toBe(2_900);
    vi.advanceTimersByTime(1_200);
    expect(delay.readMaximum()).toBe(0);
  });

  it("is the same for each reader, and that of the longest block", () => {
    delay.readMaximum();
    for (const ms of [400, 2_000, 700]) block(ms);
    expect([delay.readMaximum(), delay.readMaximum()]).toEqual([1_900, 1_900]);
    vi.advanceTimersByTime(30_000);
    block(1_000);
    expect(delay.readMaximum()).toBe(1_900);
    vi.advanceTimersByTime(40_000);
    expect(delay.readMaximum()).toBe(900);
  });

  it("has a block that has not ended, and one that was longer than the remembered time", () => {
    delay.readMaximum();
    vi.advanceTimersToNextTimer();
    blockedMs += 5_000;
    expect(delay.readMaximum()).toBe(4_900);
    blockedMs += 200_000;
    expect(delay.readMaximum()).toBe(204_900);
    vi.advanceTimersToNextTimer();
    expect(delay.readMaximum()).toBe(205_000);
  });

  it("is 0 without a block", () => {
    delay.readMaximum();
    vi.advanceTimersByTime(120_000);
    expect([delay.read(), delay.readMaximum()]).toEqual([0, 0]);
  });
});
