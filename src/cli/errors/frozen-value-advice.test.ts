import { describe, expect, it } from "vitest";
import { frozenValueAdvice } from "./explain-error.ts";

const LINES = ["const list = live(props.cards);", "list.value.sort();"];

/** Returns the error of a change of a frozen value. */
function errorOf(change: (value: { rows: number[] }) => unknown): Error {
  try {
    change(Object.freeze({ rows: Object.freeze([2, 1]) as number[] }));
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error("The change threw no error.");
}

describe("the advice about a change of the value of a live query", () => {
  it.each<[string, (value: { rows: number[] }) => unknown]>([
    ["sort", ({ rows }) => rows.sort()],
    ["push", ({ rows }) => rows.push(3)],
    ["pop", ({ rows }) => rows.pop()],
    ["an assignment", (value) => Object.assign(value, { rows: [] })],
    ["delete", (value) => Reflect.deleteProperty(value, "rows") || delete (value as { rows?: number[] }).rows],
  ])("says how to copy it, or to show a change: %s", (_, change) => {
    expect(frozenValueAdvice(errorOf(change), LINES)).toBe(
      "If it is in the value of a live query, do not change it: all components that show the query share it, so it is frozen in " +
        "development. Copy it, as in `[...list.value].sort()`, or show a change with `optimistic(list, (copy) => …, () => …)`.",
    );
  });

  it.each([
    ['"0" is read-only', "Firefox"],
    ["can't add property 3, object is not extensible", "Firefox"],
    ["property 0 is non-configurable and can't be deleted", "Firefox"],
    ["Attempted to assign to readonly property.", "Safari"],
    ["Attempting to define property on object that is not extensible.", "Safari"],
    ["Unable to delete property.", "Safari"],
  ])("knows the words of other browsers: %s", (message) => {
    expect(frozenValueAdvice({ name: "TypeError", message }, LINES)).not.toBe("");
  });

  it("is empty for other errors, and in modules without a live value", () => {
    const error = errorOf(({ rows }) => rows.sort());
    expect(frozenValueAdvice(error, ["const list = Object.freeze([]);", "list.sort();"])).toBe("");
    expect(frozenValueAdvice(new TypeError("list.value is not iterable"), LINES)).toBe("");
    expect(frozenValueAdvice(new Error("The account is read-only."), LINES)).toBe("");
  });
});
