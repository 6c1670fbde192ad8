import { describe, expect, test } from "vitest";
import { compileErrorOf, parseMarkedCode, readTestModule } from "#test/in-memory-modules";

const HEAD = 'import { server } from "tsweb";\n';

const read = (text: string) => readTestModule("src/a.server.ts", text);

describe("a server function with the parameters of a request handler of Express", () => {
  test.each([
    ["server(async («req, res) => { res.json({ name: req.body.name }); })", "req, res"],
    ["server((«req: any, res: any) => req.query.name)", "req, res"],
    ["server(async function («req, res, next) { next(); })", "req, res"],
    ["server({ auth_required: true }, async («req, res) => {})", "req, res"],
    ["server(async («request, response) => { response.json({}); })", "request, response"],
    ["server(async («request: any, response: any) => response.status(404).send())", "request, response"],
    ["server(async («request, response) => { later(() => { response!.end(); }); })", "request, response"],
  ])("is a compile error: %s", async (fn, parameters) => {
    const text = `${HEAD}export const hello = ${fn};`;
    const error = await compileErrorOf(() => read(text));
    expect(error.message).toBe(
      `The server function "hello" has the parameters (${parameters}) of a request handler of Express. The parameters of a ` +
        "server function are the arguments of its caller, and it returns the result: `hello = server(async (text: string) => …)`. " +
        'The headers and cookies are in `request` of "tsweb". route() receives the request itself.',
    );
    expect(error.loc).toEqual({ file: "/app/src/a.server.ts", ...parseMarkedCode(text).location });
  });

  test("is a compile error where the function is declared", async () => {
    const text = `${HEAD}async function handle(«req, res) { res.end(); }\nexport const hello = server(handle);`;
    const error = await compileErrorOf(() => read(text));
    expect(error.loc).toEqual({ file: "/app/src/a.server.ts", ...parseMarkedCode(text).location });
  });

  test.each([
    "(req: string, res: string) => req + res",
    "(req, res: number) => res",
    "(req = 1, res = 2) => req + res",
    "(request, response) => request + response.status",
    "(request, response) => response.trim()",
    "(request, response) => { const response2 = load(); return response2.json(); }",
    "(request, response) => load().then((response) => response.json())",
    "(request: string, response: string) => other.json()",
    "(res, req) => res",
    "(req) => req",
    "({ req, res }) => req",
  ])("is accepted if they may be arguments: %s", (fn) => {
    expect(() => read(`${HEAD}export const hello = server(${fn});`)).not.toThrow();
  });

  test("is accepted in functions that are no server functions", () => {
    expect(() => read("export const handle = (req, res) => { res.json({}); };")).not.toThrow();
  });
});
