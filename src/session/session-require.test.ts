import { describe, expect, it } from "vitest";
import { runWithCookie, signInCookie } from "#test/request-context";
import { RPCError } from "../errors.ts";
import { session } from "./session.ts";

function codeOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof RPCError) return error.code;
    throw error;
  }
  return "none";
}

describe("session.require", () => {
  it("gives the user", () => {
    runWithCookie(signInCookie("ada", { name: "Ada" }), () =>
      expect(session.require()).toEqual({ sub: "ada", name: "Ada" }),
    );
  });

  it("is unauthenticated when signed out, whatever the role", () => {
    expect(codeOf(() => runWithCookie(undefined, () => session.require()))).toBe("unauthenticated");
    expect(codeOf(() => runWithCookie("web_session=forged", () => session.require("admin")))).toBe("unauthenticated");
  });

  it.each([
    // the claim, the roles asked for, what comes of it
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
    // claims that are no list of strings
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
  ])("with the claim %j, asked for %j: %s", (roles, asked, outcome) => {
    const cookie = signInCookie("ada", { roles });
    expect(codeOf(() => runWithCookie(cookie, () => session.require(...asked)))).toBe(outcome);
  });

  it("takes no other claim for roles", () => {
    const cookie = signInCookie("admin", { role: "admin", admin: true, groups: ["admin"] });
    expect(codeOf(() => runWithCookie(cookie, () => session.require("admin")))).toBe("forbidden");
  });

  it.each([[[["admin"]]], [[undefined]], [[null]], [[1]], [["admin", ["editor"]]], [[{}]]])(
    "throws for roles that are no strings, rather than let anybody in: %j",
    (asked) => {
      for (const cookie of [signInCookie("ada", { roles: ["admin"] }), undefined]) {
        expect(() => runWithCookie(cookie, () => Reflect.apply(session.require, session, asked))).toThrow(TypeError);
      }
    },
  );

  it("says nothing of what would be needed", () => {
    const cookie = signInCookie("ada");
    expect(() => runWithCookie(cookie, () => session.require("secret-role"))).toThrow(/^(?!.*secret-role)/);
  });
});
