import { describe, expect, it } from "vitest";
import { dateMethodAdvice } from "./date-methods.ts";

/** Returns the advice about the error of an expression, in which `order.at` and `at` are dates that were sent. */
function adviceFor(expression: string): string {
  const [at] = JSON.parse(JSON.stringify([new Date(0)]));
  try {
    new Function("at", "order", `return ${expression};`)(at, { at });
  } catch (error) {
    if (error instanceof Error) return dateMethodAdvice(error);
  }
  throw new Error(`${expression} threw no error.`);
}

describe("the advice about a date that has arrived as a string", () => {
  it.each([
    ["at.getTime()", "new Date(at).getTime()"],
    ["order.at.toLocaleDateString()", "new Date(order.at).toLocaleDateString()"],
    ["at.toISOString()", "new Date(at).toISOString()"],
    ["at.getUTCFullYear()", "new Date(at).getUTCFullYear()"],
    ["at.toLocaleTimeString()", "new Date(at).toLocaleTimeString()"],
  ])("states how to write %s", (expression, fix) => {
    expect(adviceFor(expression)).toContain(`Write \`${fix}\`.`);
  });

  it("is given in the words of Safari too", () => {
    const message = "at.getTime is not a function. (In 'at.getTime()', 'at.getTime' is undefined)";
    expect(dateMethodAdvice({ name: "TypeError", message })).toContain("If `at` is a date, it has arrived as a string");
  });

  it.each(["at.getName()", "at.missing.getTime()", "at()", "nothing.getTime()", "order.getTimes()"])(
    "is absent for another error: %s",
    (expression) => {
      expect(adviceFor(expression)).toBe("");
    },
  );

  it("is absent for errors of other types", () => {
    expect(dateMethodAdvice({ name: "Error", message: "at.getTime is not a function" })).toBe("");
    expect(dateMethodAdvice({ message: "at.getTime is not a function" })).toBe("");
  });
});
