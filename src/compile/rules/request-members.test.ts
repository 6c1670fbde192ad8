import { describe, expect, test } from "vitest";
import { compileErrorAt, readTestModule } from "#test/in-memory-modules";

const HEAD = 'import { request, request as own } from "tsweb";\nimport * as web from "tsweb";\n';

const inFunction = (statement: string) => `${HEAD}export function read(other, name) { ${statement} }`;

describe("the objects of request", () => {
  test.each([
    ['return «request.headers["User-Agent"];', 'Write request.headers["user-agent"].'],
    ["return «request.headers.Authorization;", 'Write request.headers["authorization"].'],
    ['return «request.headers?.["User-Agent"];', 'Write request.headers["user-agent"].'],
    ['return «web.request.headers["X-Id"];', 'Write web.request.headers["x-id"].'],
    ['const headers = own.headers; return «headers["X-Id"];', 'Write headers["x-id"].'],
    ['const { headers } = request; return «headers["X-Id"];', 'Write headers["x-id"].'],
    ["const { «Accept } = request.headers; other(Accept);", 'Write request.headers["accept"].'],
  ])("have headers in lower case, so another name is a compile error: %s", async (statement, fix) => {
    const error = await compileErrorAt("src/a.server.tsx", inFunction(statement));
    expect(error.message).toContain("because the names in it are in lower case. ");
    expect(error.message).toContain(fix);
  });

  test.each([
    ['«request.cookies.theme = "dark";', "Set a cookie with request.set_cookie(name, value)."],
    ['«request.cookies["theme"] ??= "dark";', "Set a cookie with request.set_cookie(name, value)."],
    ['«own.headers["x-id"] = name;', "It is what the browser has sent and cannot be changed"],
    ["const { query } = request; «query.page++;", "read it with query.page."],
  ])("are frozen, so an assignment is a compile error: %s", async (statement, fix) => {
    const error = await compileErrorAt("src/a.server.tsx", inFunction(statement));
    expect(error.message).toMatch(/^(?:\w+\.)?\w+ cannot be changed\. /);
    expect(error.message).toContain(fix);
  });

  test.each([
    'const query = { ...request.query }; query.page = "1";',
    "other.cookies.theme = request.cookies.theme;",
    'function f(request) { request.cookies.theme = "dark"; }',
  ])("can be copied and changed: %s", (statement) => {
    expect(() => readTestModule("src/a.server.tsx", inFunction(statement))).not.toThrow();
  });

  test.each([
    ['return «request.headers.get("User-Agent");', 'Write request.headers["user-agent"].'],
    ['return «request.headers?.get("a");', 'Write request.headers["a"].'],
    ["return «request.query.get(name);", 'Write request.query["name"].'],
    ['return «request.query.get("Q");', 'Write request.query["Q"].'],
    ['return «request.cookies.has("theme");', 'Write request.cookies["theme"] !== undefined.'],
    ['«request.cookies.set("theme", "dark");', "Set a cookie with request.set_cookie(name, value)."],
    ['«request.headers.set("a", "b");', "It is what the browser has sent and cannot be changed"],
    ['const { query } = request; return «query.get("q");', 'Write query["q"].'],
  ])("have no methods, so a call of one is a compile error: %s", async (statement, fix) => {
    const error = await compileErrorAt("src/a.server.tsx", inFunction(statement));
    expect(error.message).toMatch(/ is a plain object without the method \w+\. /);
    expect(error.message).toContain(fix);
  });

  test.each([
    ["return «request.params.id;", "request has no params. A page and a route receive the parts of their path: `page("],
    [
      "return «request.body.name;",
      "request has no body. A server function receives the values of a call or a form as its",
    ],
    ["return (await «own.json()).name;", "own has no json. A server function receives"],
    ["return «(web.request as any).ip;", "web.request has no ip. Write request.address."],
    ["const { «body } = request; return body;", "request has no body."],
    ["return «request?.url;", "request has no url. Write request.path and request.query."],
    ["«request.user = name;", "request cannot be assigned to. It is one object for all requests."],
    ["«(request as any).count++;", "request cannot be assigned to."],
    [
      "«session.visits = 1;",
      "session cannot be assigned to. A session holds what session.login(id, claims) has stored.",
    ],
    ["«(session as any).visits += 1;", "session cannot be assigned to."],
  ])("have no members of other frameworks, and take no assignments: %s", async (statement, says) => {
    const error = await compileErrorAt(
      "src/a.server.tsx",
      `import { session } from "tsweb";\n${inFunction(statement).replace("function", "async function")}`,
    );
    expect(error.message).toContain(says);
  });

  test.each([
    'return request.headers["user-agent"] ?? request.headers.accept;',
    'return request.headers[name] ?? request.headers["X-" + name];',
    'return request.query["Name"] ?? request.query.Name ?? request.cookies.SID;',
    "return request.query.get ?? request.query.set ?? request.headers.get?.(name);",
    'return new Headers(request.headers).get("User-Agent");',
    'return new URLSearchParams(request.query).get("Name");',
    "return request.cookies.theme.at(0) ?? request.query.name.toLowerCase();",
    'let headers = request.headers; headers = new Headers(); return headers.get("X");',
    'const request = other; return request.headers.get("X") ?? request.headers["X"];',
    'return other((request) => request.headers.get("X"));',
    'return other.request.headers.get("X") ?? web.other.headers["X"];',
    'const { json, text } = other; return json + text + other.body + other.request.params + request["x-id"];',
    "return other((request) => { request.user = request.params.id; return request.body; });",
    "const session = {}; session.visits = 1; return session;",
    "return request.headers.hasOwnProperty(name) || request.headers.toString();",
    "const { accept, ...rest } = request.headers; return [accept, rest];",
  ])("are accepted where they are used as they are, and where they are another object: %s", (statement) => {
    expect(() => readTestModule("src/a.server.tsx", inFunction(statement))).not.toThrow();
  });
});
