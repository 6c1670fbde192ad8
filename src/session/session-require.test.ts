import { describe, expect, it } from "vitest";
import { signIn, within } from "#test/visit";
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
    within(signIn("ada", { name: "Ada" }), () => expect(session.require()).toEqual({ sub: "ada", name: "Ada" }));
  });

  it("is unauthenticated when signed out, whatever the role", () => {
    expect(codeOf(() => within(undefined, () => session.require()))).toBe("unauthenticated");
    expect(codeOf(() => within("web_session=forged", () => session.require("admin")))).toBe("unauthenticated");
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
    const cookie = signIn("ada", { roles });
    expect(codeOf(() => within(cookie, () => session.require(...asked)))).toBe(outcome);
  });

  it("takes no other claim for roles", () => {
    const cookie = signIn("admin", { role: "admin", admin: true, groups: ["admin"] });
    expect(codeOf(() => within(cookie, () => session.require("admin")))).toBe("forbidden");
  });

  it.each([[[["admin"]]], [[undefined]], [[null]], [[1]], [["admin", ["editor"]]], [[{}]]])(
    "throws for roles that are no strings, rather than let anybody in: %j",
    (asked) => {
      for (const cookie of [signIn("ada", { roles: ["admin"] }), undefined]) {
        expect(() => within(cookie, () => Reflect.apply(session.require, session, asked))).toThrow(TypeError);
      }
    },
  );

  it("says nothing of what would be needed", () => {
    const cookie = signIn("ada");
    expect(() => within(cookie, () => session.require("secret-role"))).toThrow(/^(?!.*secret-role)/);
  });
});
