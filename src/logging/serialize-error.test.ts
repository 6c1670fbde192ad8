import { describe, expect, it } from "vitest";
import { serializeError } from "./serialize-error.ts";

describe("an error in the log", () => {
  it("has its kind, message and stack, and what the system says", () => {
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

  it("has nothing else that hangs on it", () => {
    const secrets = { password: "hunter2", config: { headers: { authorization: "hunter2" } }, code: { of: "hunter2" } };
    const error = Object.assign(new Error("failed", { cause: Object.assign(new Error("deeper"), secrets) }), secrets);
    expect(JSON.stringify(serializeError(error))).not.toContain("hunter2");
  });

  it("has its causes, and those of many errors, and ends where they are a circle", () => {
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
    [{ password: "hunter2" }, { type: "Object", message: "Not an Error but a value of type Object was thrown." }],
    [Object.create(null), { type: "object", message: "Not an Error but a value of type object was thrown." }],
    [null, { type: "object", message: "Not an Error but a value of type object was thrown." }],
    [undefined, { type: "undefined", message: "Not an Error but a value of type undefined was thrown." }],
    [42, { type: "number", message: "Not an Error but a value of type number was thrown." }],
  ])("tells of %j its kind", (thrown, logged) => {
    expect(serializeError(thrown)).toEqual(logged);
  });
});
