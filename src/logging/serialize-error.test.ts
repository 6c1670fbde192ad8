import { describe, expect, it } from "vitest";
import { serializeError } from "./serialize-error.ts";

describe("an error in the log", () => {
  it("has its type, message, stack and the fields of system errors", () => {
    class OrderError extends Error {}
    const error = Object.assign(new OrderError("failed"), { code: "ECONNRESET", errno: -104, syscall: "read" });
    expect(serializeError(error)).toEqual({
      type: "OrderError",
      message: "failed",
      stack: error.stack,
      code: "ECONNRESET",
      errno: -104,
      syscall: "read",
    });
  });

  it("has no other field of the error or its cause [RESPONSE-18]", () => {
    const secrets = { password: "hunter2", config: { headers: { authorization: "hunter2" } }, code: { of: "hunter2" } };
    const error = Object.assign(new Error("failed", { cause: Object.assign(new Error("deeper"), secrets) }), secrets);
    expect(JSON.stringify(serializeError(error))).not.toContain("hunter2");
  });

  it("has its causes and the errors of an AggregateError, also if they refer to each other", () => {
    const inner = new Error("inner");
    const outer = new AggregateError([inner, "text"], "outer", { cause: inner });
    expect(serializeError(outer)).toMatchObject({
      type: "AggregateError",
      cause: { message: "inner" },
      errors: [{ message: "inner" }, { type: "string", message: "text" }],
    });
    inner.cause = outer;
    expect(JSON.stringify(serializeError(outer)).length).toBeLessThan(2_000_000);
  });

  it.each([
    ["a reason", { type: "string", message: "a reason" }],
    [{ password: "hunter2" }, { type: "Object", message: "A value of type Object was thrown instead of an Error." }],
    [Object.create(null), { type: "object", message: "A value of type object was thrown instead of an Error." }],
    [null, { type: "object", message: "A value of type object was thrown instead of an Error." }],
    [undefined, { type: "undefined", message: "A value of type undefined was thrown instead of an Error." }],
    [42, { type: "number", message: "A value of type number was thrown instead of an Error." }],
  ])("has only the type of the thrown value %j", (thrown, expected) => {
    expect(serializeError(thrown)).toEqual(expected);
  });
});
