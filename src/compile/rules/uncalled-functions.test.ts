import { describe, expect, test } from "vitest";
import { compileErrorAt, compileErrorOf, readTestModule } from "#test/in-memory-modules";
import { request, session } from "../../index.ts";
import { compileServerModule, mayContainDeclarations } from "../server-code.ts";

const HEAD = 'import { request, session, session as own } from "tsweb";\nimport * as web from "tsweb";\n';

const FILES = ["src/guard.server.tsx", "src/guard.tsx"];

const inFunction = (statement: string) => `${HEAD}export async function guard(other, list) { ${statement} }`;

describe("a function of session that is used as if it were its result", () => {
  test.each([
    "if («session.user) other();",
    "if (!«session.user) throw other;",
    "if (other && «session.user) other();",
    "if (other || !(«session.user)) other();",
    "while («session.user) other();",
    "do { other(); } while («session.user);",
    "for (; «session.user; ) other();",
    "return «session.user ? <p /> : null;",
    "return «session.user && <p />;",
    "const name = «session.user || other;",
    "return !!«session.user;",
    "if («own.user) other();",
    "if («web.session.user) other();",
    'if («session["user"]) other();',
    "if («session?.user) other();",
    "if («session.user!) other();",
    "if («session.require) other();",
    "const user = session.user; if (!«user) throw other;",
    "const { user } = session; if (!«user) throw other;",
    "const { user: signedIn } = session; if (!«signedIn) throw other;",
    "let user = web.session.user; if (!«user) throw other;",
  ])("is a compile error in a condition: %s", async (statement) => {
    for (const file of FILES) {
      const error = await compileErrorAt(file, inFunction(statement));
      expect(error.message).toMatch(/^.+ is a function, which is always truthy\. Call it: `.+\(\)`\.$/);
    }
  });

  test.each([
    "return «session.user.name;",
    "return «session.user?.sub;",
    "return «session.user!.sub;",
    'return («session.user as any)["sub"];',
    "return «session.user[other];",
    "return «session.require.sub;",
    'return «session.user.roles.includes("admin");',
    "const user = session.user; return «user.sub;",
    "const { sub } = «session.user;",
    "return { ...«session.user };",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: code
    "return `Hello ${«session.user}`;",
    'return "Hello " + «session.user;',
    "return «session.user === null;",
    "return «session.user != undefined;",
    'return "ada" === «session.user;',
    "return «session.user ?? other;",
    "return <p>{«session.user}</p>;",
    "return <>{other && «session.user}</>;",
    "«session.logout;",
    "await «session.user;",
    "await «session.revoke;",
    "«request.set_cookie;",
  ])("is a compile error as a value: %s", async (statement) => {
    for (const file of FILES) {
      const error = await compileErrorAt(file, inFunction(statement));
      expect(error.message).toMatch(/^.+ is a function\. Call it: `.+\(…?\)`\.$/);
    }
  });

  test("is reported with the call", async () => {
    const messageOf = async (statement: string) =>
      (await compileErrorOf(() => readTestModule("src/a.server.tsx", inFunction(statement)))).message;
    expect(await messageOf("if (session.user) other();")).toBe(
      "session.user is a function, which is always truthy. Call it: `session.user()`.",
    );
    expect(await messageOf("return session.user.name;")).toBe("session.user is a function. Call it: `session.user()`.");
    expect(await messageOf("await session.revoke;")).toBe(
      "session.revoke is a function. Call it: `session.revoke(…)`.",
    );
  });
});

describe("a function of session", () => {
  test.each([
    "if (session.user()) return session.user()?.sub;",
    "return session.user?.()?.sub;",
    "const user = session.user(); if (user) return <p>{user.name}</p>;",
    'return session.require("admin").sub;',
    "return session.user<{ name: string }>()!.name;",
    "list.map(session.user); other(session.require); return session.user;",
    "const read = session.user; return read();",
    "const { user } = session; return user()?.sub;",
    "let user = session.user; user = other; if (user) return user.sub;",
    "const read = other || session.user; return read();",
    "const read = other ? session.user : other; return { user: session.user, read };",
    'return typeof session.user === "function";',
    "return session.user === other || other.user !== session.user;",
    "return session.user.call(session) ?? Reflect.apply(session.require, session, []);",
    "const bound = session.user.bind(session); (session.user as any).mockReturnValue(other);",
    "return <Show user={session.user}>{session.user}</Show>;",
    "return session.sid ? session.sid.length : session.issued_at?.getTime();",
    "return session.max_age > 5 && request.path === '/' && request.query.name;",
    "{ const session = other; if (session.user) return session.user.name; }",
    "list.map((session) => session.user && session.user.name);",
    "const user = other; const session2 = user; if (session2.user) return user.name;",
    "const a = a; const { b = session.user } = other; if (b) return a.name;",
    "type User = ReturnType<typeof session.user>; return other as User;",
    "if (other.session.user) return other.session.user.name;",
  ])("is accepted where it is called, passed on or something else: %s", (statement) => {
    for (const file of FILES) expect(() => readTestModule(file, inFunction(statement))).not.toThrow();
  });

  test("is only one of tsweb's", () => {
    const code =
      'import { page } from "tsweb"; import { session } from "./auth.ts"; if (session.user) session.user.name;';
    expect(() => readTestModule("src/a.ts", code)).not.toThrow();
  });

  test("is checked for every function of session and request, and for no other member", () => {
    for (const [name, object] of Object.entries({ session, request })) {
      for (const [member, { value }] of Object.entries(Object.getOwnPropertyDescriptors(object))) {
        const check = () => readTestModule("src/a.ts", inFunction(`if (${name}.${member}) other();`));
        if (typeof value === "function") expect(check, member).toThrow(`${name}.${member} is a function`);
        else expect(check, member).not.toThrow();
      }
    }
  });

  test("is checked in a helper without declarations, which is otherwise not compiled", () => {
    const code = 'import { session } from "tsweb";\nexport const isSignedIn = () => !!session.user;\n';
    const options = { file: "/app/src/guard.ts", root: "/app" };
    expect(mayContainDeclarations(code)).toBe(true);
    expect(() => compileServerModule(code, options)).toThrow("session.user is a function");
    expect(compileServerModule(code.replace("user;", "user();"), options)).toBeUndefined();
  });
});
