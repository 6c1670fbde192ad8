import { describe, expect, it } from "vitest";
import { signedOutAdvice } from "./explain-error.ts";

/** Runs code for which nobody is signed in, and returns the advice about its error. */
function adviceFor(code: string): string {
  const session = { user: () => null };
  try {
    new Function("session", "other", code)(session, null);
  } catch (error) {
    return signedOutAdvice(error, code.split("\n"));
  }
  throw new Error("The code threw no error.");
}

describe("the advice about a read of a property of the user when nobody is signed in", () => {
  it.each([
    "return session.user().sub;",
    "const { sub } = session.user();",
    "const user = session.user();\nconst name = 1;\nreturn [name, user.sub];",
    "let user = session.user(); let $ = 1;\nuser = session.user();\nlet me = session.user();\nreturn me.roles.length;",
  ])("names session.require(): %s", (code) => {
    expect(adviceFor(code)).toContain("Write `session.require()` in its place");
  });

  it("names session.require() for a non-null assertion, which the error's line of TypeScript has", () => {
    const error = new TypeError("Cannot read properties of null (reading 'sub')");
    expect(signedOutAdvice(error, ["  const id = session.user()!.sub;"])).toContain("session.require()");
    expect(signedOutAdvice(error, ["<p>Hello {(session.user() as any).sub}</p>"])).toContain("session.require()");
    expect(signedOutAdvice(error, ["const me = session.user() as User;", "save(me.sub)"])).toContain(
      "session.require()",
    );
    expect(signedOutAdvice(error, ["const me = (session.user() as any).boss;", "save(me.sub)"])).toBe("");
    expect(signedOutAdvice(error, ["const user = session.user()!;", "save(user.sub)"])).toContain("session.require()");
  });

  it.each([
    "return other.sub;",
    "const { sub } = other;",
    "const user = session.user();\nreturn other.sub;",
    "const user = session.user() ?? other;\nreturn user.sub;",
    "{ const user = session.user(); }\nconst user = other;\nreturn user.sub;",
    "session.user(); return other.sub;",
    "const user = session.user();\nnull.x;",
  ])("is absent for another null: %s", (code) => {
    expect(adviceFor(code)).toBe("");
  });

  it("is absent for other errors, and without the source", () => {
    expect(signedOutAdvice(new Error("Cannot read properties of null (reading 'sub')"), ["session.user().sub"])).toBe(
      "",
    );
    expect(signedOutAdvice(new TypeError("Failed"), ["session.user().sub"])).toBe("");
    expect(signedOutAdvice(new TypeError("Cannot read properties of null (reading 'sub')"), [])).toBe("");
    expect(signedOutAdvice("Cannot read properties of null", ["session.user().sub"])).toBe("");
  });
});
