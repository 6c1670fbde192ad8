import { describe, expect, it, vi } from "vitest";
import { requestContext } from "#test/request-context";
import { runInContext } from "./context-storage.ts";
import { forgetOnce, once } from "./once.ts";

/** Runs work in a request of its own. */
const inRequest = <T>(work: () => T): T => runInContext(requestContext(), work);

describe("once", () => {
  it("runs a function once in a request, and again in another request", () => {
    const fn = vi.fn(() => ({}));
    const cached = once(fn);
    const first = inRequest(() => {
      expect(cached()).toBe(cached());
      return cached();
    });
    expect(fn).toHaveBeenCalledTimes(1);
    expect(inRequest(cached)).not.toBe(first);
    expect(fn).toHaveBeenCalledTimes(2);
  });

  it("shares a promise with callers that call before it has resolved", async () => {
    let resolve = (_: string) => {};
    const fn = vi.fn(() => new Promise<string>((settle) => (resolve = settle)));
    const cached = once(fn);
    const [first, second] = inRequest(() => [cached(), cached()]);
    resolve("board");
    expect(await Promise.all([first, second])).toEqual(["board", "board"]);
    expect(fn).toHaveBeenCalledTimes(1);
  });

  it("keeps concurrent requests apart", async () => {
    const cached = once(async (user: string) => ({ user }));
    const [ada, grace] = await Promise.all(
      ["ada", "grace"].map((user) =>
        inRequest(async () => {
          await null;
          return cached("same").then((result) => ({ result, user }));
        }),
      ),
    );
    expect(ada?.result).not.toBe(grace?.result);
  });

  it("runs once for the same arguments, each compared as the key of a Map", () => {
    const fn = vi.fn((...args: unknown[]) => args.length);
    const cached = once(fn);
    const object = {};
    inRequest(() => {
      for (const args of [[], [1], [1, 2], [2, 1], ["1"], [undefined], [Number.NaN], [object], [{}]]) {
        cached(...args);
        cached(...args);
      }
      expect(fn).toHaveBeenCalledTimes(9);
      cached({}); // another object
      expect(fn).toHaveBeenCalledTimes(10);
    });
  });

  it("keeps functions apart that have the same arguments", () => {
    const [one, two] = [once(() => 1), once(() => 2)];
    expect(inRequest(() => [one(), two(), one()])).toEqual([1, 2, 1]);
  });

  it("throws an error again, and caches undefined and null too", () => {
    const fail = vi.fn(() => {
      throw new Error("broken");
    });
    const nothing = vi.fn(() => undefined);
    const [failing, empty] = [once(fail), once(nothing)];
    inRequest(() => {
      expect(failing).toThrow("broken");
      expect(failing).toThrow("broken");
      expect([empty(), empty()]).toEqual([undefined, undefined]);
    });
    expect([fail, nothing].map((fn) => fn.mock.calls.length)).toEqual([1, 1]);
  });

  it("runs again in the same request after forgetOnce", () => {
    const fn = vi.fn(() => 1);
    const cached = once(fn);
    const context = requestContext();
    runInContext(context, () => {
      cached();
      forgetOnce(context);
      cached();
      cached();
    });
    expect(fn).toHaveBeenCalledTimes(2);
  });

  it("runs each time outside a request", () => {
    const fn = vi.fn(() => 1);
    const cached = once(fn);
    cached();
    cached();
    expect(fn).toHaveBeenCalledTimes(2);
  });
});
