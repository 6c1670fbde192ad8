import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { isAbortError } from "./request-failures.ts";

const abortedSignal = (reason?: unknown) => AbortSignal.abort(reason);

describe("isAbortError", () => {
  const signal = abortedSignal();

  it("is true for the reason of the signal, whatever it is, also through another signal", () => {
    expect(isAbortError(signal.reason, signal)).toBe(true);
    expect(isAbortError(AbortSignal.any([signal, new AbortController().signal]).reason, signal)).toBe(true);
    const reason = new TypeError("gone");
    expect(isAbortError(reason, abortedSignal(reason))).toBe(true);
    expect(isAbortError("gone", abortedSignal("gone"))).toBe(true);
  });

  it.each([
    ["a timer of Node", () => wait(1000, null, { signal })],
    ["fetch", () => fetch("http://127.0.0.1:9/", { signal })],
    ["an error with the reason as its cause", () => Promise.reject(new Error("stopped", { cause: signal.reason }))],
    ["a DOMException", () => Promise.reject(new DOMException("stopped", "AbortError"))],
    ["an error with Node's code", () => Promise.reject(Object.assign(new Error("stopped"), { code: "ABORT_ERR" }))],
  ])("is true for what %s rejects with", async (_, run) => {
    expect(isAbortError(await run().catch((error: unknown) => error), signal)).toBe(true);
  });

  it.each([
    new Error("a bug"),
    new TypeError("a bug"),
    new Error("a bug", { cause: new Error("AbortError") }),
    new DOMException("too slow", "TimeoutError"),
    Object.assign(new Error("stopped", { cause: new Error("another") }), { name: "AbortError", code: "ABORT_ERR" }),
    { name: "AbortError" },
    "AbortError",
    null,
    undefined,
  ])("is false for an error with another origin: %s", (error) => {
    expect(isAbortError(error, signal)).toBe(false);
  });

  it("is false for every error while the signal has not aborted", () => {
    const active = new AbortController().signal;
    for (const error of [undefined, active.reason, new DOMException("stopped", "AbortError"), signal.reason])
      expect(isAbortError(error, active)).toBe(false);
  });
});
