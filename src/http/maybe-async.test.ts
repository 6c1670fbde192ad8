import { describe, expect, it } from "vitest";
import { awaitMaybe, type MaybeAsync, run } from "./maybe-async.ts";

function* sum(...values: readonly (number | PromiseLike<number>)[]): MaybeAsync<number> {
  let total = 0;
  for (const value of values) total += yield* awaitMaybe(value);
  return total;
}

function* describeOutcome(value: unknown): MaybeAsync<string> {
  try {
    return `got ${yield* awaitMaybe(value)}`;
  } catch (error) {
    return `failed with ${error}`;
  } finally {
    yield* awaitMaybe(Promise.resolve()); // an async function may also await in its `finally`
  }
}

function* failAfter(value: unknown): MaybeAsync<never> {
  yield* awaitMaybe(value);
  throw new Error("failed");
}

describe("a MaybeAsync function", () => {
  it("completes synchronously if nothing is awaited", () => {
    expect(run(sum(1, 2, 3))).toBe(6);
    expect(() => run(failAfter(1))).toThrow("failed");
  });

  it("returns a promise if the first, the last or several values are promises", async () => {
    const one = Promise.resolve(1);
    for (const values of [
      [one, 2, 3],
      [1, 2, Promise.resolve(3)],
      [one, Promise.resolve(2), Promise.resolve(3)],
    ]) {
      const total = run(sum(...values));
      expect(total).toBeInstanceOf(Promise);
      expect(await total).toBe(6);
    }
    await expect(run(failAfter(one))).rejects.toThrow("failed");
  });

  it("catches the rejection of a promise, as after await", async () => {
    expect(await run(describeOutcome(Promise.reject("a reason")))).toBe("failed with a reason");
    expect(await run(describeOutcome("a value"))).toBe("got a value");
  });

  it("awaits every value that has a method then, and no other value", async () => {
    // biome-ignore lint/suspicious/noThenProperty: the test needs a thenable
    const late = { then: (resolve: (value: number) => void) => resolve(2) };
    // biome-ignore lint/suspicious/noThenProperty: as above
    const callable = Object.assign(() => 0, { then: late.then });
    expect(await run(describeOutcome(late))).toBe("got 2");
    expect(await run(describeOutcome(callable))).toBe("got 2");
    // biome-ignore lint/suspicious/noThenProperty: as above
    const plain = { then: "no method" };
    for (const value of [plain, null, undefined, 0, "then", () => 0]) {
      const result = run(
        (function* (): MaybeAsync<unknown> {
          return yield* awaitMaybe(value);
        })(),
      );
      expect(result).toBe(value);
    }
  });
});
