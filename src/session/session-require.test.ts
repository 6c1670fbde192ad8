import { describe, expect, it } from "vitest";
import { runWithCookie, signInCookie } from "#test/request-context";
import { RPCError } from "../errors.ts";
import { session } from "./session.ts";

function errorCode(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof RPCError) return error.code;
    throw error;
  }
  return "none";
}

describe("session.require", () => {
  it("returns the user", () => {
    runWithCookie(signInCookie("ada", { name: "Ada" }), () =>
      expect(session.require()).toEqual({ sub: "ada", name: "Ada" }),
    );
  });

  it("throws unauthenticated for a signed-out client, regardless of the roles", () => {
    expect(errorCode(() => runWithCookie(undefined, () => session.require()))).toBe("unauthenticated");
    expect(errorCode(() => runWithCookie("web_session=forged", () => session.require("admin")))).toBe(
      "unauthenticated",
    );
  });

  it.each([
    // the claim, the required roles, the error code
    [["admin"], [], "none"],
    [["admin"], ["admin"], "none"],
    [["admin", "editor"], ["admin"], "none"],
    [["admin", "editor"], ["editor", "admin"], "none"],
    [["admin", "editor"], ["admin", "admin"], "none"],
    [["editor"], ["admin"], "forbidden"],
    [["editor"], ["editor", "admin"], "forbidden"],
    [["Admin"], ["admin"], "forbidden"],
    [["admin "], ["admin"], "forbidden"],
    [["superadmin"], ["admin"], "forbidden"],
    [[""], ["admin"], "forbidden"],
    [["admin"], [""], "forbidden"],
    [[], ["admin"], "forbidden"],
    [[], [], "none"],
    [undefined, ["admin"], "forbidden"],
    [undefined, [], "none"],
    // claims that are not an array of strings
    ["admin", ["admin"], "forbidden"],
    ["superadmin", ["admin"], "forbidden"],
    ["admin,editor", ["admin"], "forbidden"],
    [null, ["admin"], "forbidden"],
    [true, ["admin"], "forbidden"],
    [1, ["admin"], "forbidden"],
    [{ admin: true }, ["admin"], "forbidden"],
    [{ 0: "admin", length: 1 }, ["admin"], "forbidden"],
    [["admin", 1], ["admin"], "forbidden"],
    [["admin", null], ["admin"], "forbidden"],
    [[["admin"]], ["admin"], "forbidden"],
    [["__proto__"], ["constructor"], "forbidden"],
    ["admin", [], "none"],
  ])("with the claim %j and the required roles %j throws: %s", (roles, required, expected) => {
    const cookie = signInCookie("ada", { roles });
    expect(errorCode(() => runWithCookie(cookie, () => session.require(...required)))).toBe(expected);
  });

  it("reads roles from no other claim", () => {
    const cookie = signInCookie("admin", { role: "admin", admin: true, groups: ["admin"] });
    expect(errorCode(() => runWithCookie(cookie, () => session.require("admin")))).toBe("forbidden");
  });

  it.each([[[["admin"]]], [[undefined]], [[null]], [[1]], [["admin", ["editor"]]], [[{}]]])(
    "throws a TypeError for required roles that are not strings: %j",
    (required) => {
      for (const cookie of [signInCookie("ada", { roles: ["admin"] }), undefined]) {
        expect(() => runWithCookie(cookie, () => Reflect.apply(session.require, session, required))).toThrow(TypeError);
      }
    },
  );

  it("does not reveal the required role", () => {
    const cookie = signInCookie("ada");
    expect(() => runWithCookie(cookie, () => session.require("secret-role"))).toThrow(/^(?!.*secret-role)/);
  });
});
