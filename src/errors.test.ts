import { describe, expect, it } from "vitest";
import { isErrorCode, RPCError, statusOf } from "./errors.ts";

describe("RPCError", () => {
  it.each([
    ["validation_error", 422],
    ["unauthenticated", 401],
    ["forbidden", 403],
    ["not_found", 404],
    ["conflict", 409],
    ["rate_limited", 429],
    ["timeout", 504],
    ["internal", 500],
  ] as const)("%s has the status %i", (code, status) => {
    expect(statusOf(code)).toBe(status);
    expect(isErrorCode(code)).toBe(true);
    expect(new RPCError(code, "So it is.")).toMatchObject({
      code,
      message: "So it is.",
      details: {},
      name: "RPCError",
    });
  });

  it("is an Error whose text is its message", () => {
    const error = new RPCError("conflict", "Taken.", { by: "ada" });
    expect(error).toBeInstanceOf(Error);
    expect(String(error)).toBe("Taken.");
    expect(`${error}`).toBe("Taken.");
    expect(error.details).toEqual({ by: "ada" });
    expect(error.stack).toContain("errors.test.ts");
  });

  it.each(["", "Conflict", "toString", "__proto__", "constructor", 404, null, undefined, ["conflict"]])(
    "throws for the unknown code %j",
    (code) => {
      expect(isErrorCode(code)).toBe(false);
      // JavaScript code can pass any value.
      expect(() => Reflect.construct(RPCError, [code, "…"])).toThrow(/^Unknown code .*; use validation_error,/s);
    },
  );
});
