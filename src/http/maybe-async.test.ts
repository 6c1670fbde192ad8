import { describe, expect, it } from "vitest";
import { awaitMaybe, type MaybeAsync, run } from "./maybe-async.ts";

function* adding(...values: readonly (number | PromiseLike<number>)[]): MaybeAsync<number> {
  let sum = 0;
  for (const value of values) sum += yield* awaitMaybe(value);
  return sum;
}

function* telling(given: unknown): MaybeAsync<string> {
  try {
    return `got ${yield* awaitMaybe(given)}`;
  } catch (error) {
    return `failed with ${error}`;
  } finally {
    yield* awaitMaybe(Promise.resolve()); // as an async function may wait in its `finally`
  }
}

function* failing(given: unknown): MaybeAsync<never> {
  yield* awaitMaybe(given);
  throw new Error("failed");
}

describe("steps", () => {
  it("are done at once where none waits", () => {
    expect(run(adding(1, 2, 3))).toBe(6);
    expect(() => run(failing(1))).toThrow("failed");
  });

  it("give a promise where one waits, first, last or between", async () => {
    const one = Promise.resolve(1);
    for (const values of [
      [one, 2, 3],
      [1, 2, Promise.resolve(3)],
      [one, Promise.resolve(2), Promise.resolve(3)],
    ]) {
      const sum = run(adding(...values));
      expect(sum).toBeInstanceOf(Promise);
      expect(await sum).toBe(6);
    }
    await expect(run(failing(one))).rejects.toThrow("failed");
  });

  it("catch what they waited for when it fails, as after await", async () => {
    expect(await run(telling(Promise.reject("a reason")))).toBe("failed with a reason");
    expect(await run(telling("a value"))).toBe("got a value");
  });

  it("wait for whatever has a method then, and for nothing else", async () => {
    // biome-ignore lint/suspicious/noThenProperty: it is what makes a value one to be waited for
    const late = { then: (resolve: (value: number) => void) => resolve(2) };
    // biome-ignore lint/suspicious/noThenProperty: as above
    const callable = Object.assign(() => 0, { then: late.then });
    expect(await run(telling(late))).toBe("got 2");
    expect(await run(telling(callable))).toBe("got 2");
    // biome-ignore lint/suspicious/noThenProperty: as above
    const plain = { then: "no method" };
    for (const value of [plain, null, undefined, 0, "then", () => 0]) {
      const given = run(
        (function* (): MaybeAsync<unknown> {
          return yield* awaitMaybe(value);
        })(),
      );
      expect(given).toBe(value);
    }
  });
});
