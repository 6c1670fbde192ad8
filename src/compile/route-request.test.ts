import { describe, expect, test } from "vitest";
import { compileErrorOf, parseMarkedCode, readTestModule } from "#test/in-memory-modules";

const inRoute = (fn: string) => `import { route } from "tsweb";\nexport const add = route("POST /guests/:id", ${fn});`;

const read = (text: string) => readTestModule("src/a.server.ts", text);

const json = (key: string) => `\`const body = await request.json();\`, and then body.${key}.`;

describe("a route that reads its Request like a request of Express", () => {
  test.each([
    ["async (req) => { const name = «req.body.name; }", json("name")],
    ["async (req: any) => Response.json(«req.body.name)", json("name")],
    ["async function (request) { return list.map(() => «request.body?.name); }", json("name")],
    ["async (req) => «(req as any).body.name", json("name")],
    ["async (req) => { const { «name, text } = req.body; }", json("name")],
    ['{ max_body: 10 }, async (req) => «req.body["name"]', json("name")],
    ["async (req) => { log(req); return «req.body.name; }", json("name")],
    ["async (req) => { log(req.url); return «req.params.id; }", "in its second argument"],
    ["async (req) => «req.params.id", '`route("GET /invoices/:id", async (request, { id }) => …)`'],
    ["async (req) => { const { id } = «req.params; }", "in its second argument"],
    ["async (req) => { const { «params } = req; }", "in its second argument"],
  ])("is a compile error: %s", async (fn, fix) => {
    const text = inRoute(fn);
    const error = await compileErrorOf(() => read(text));
    expect(error.message).toMatch(/^A route receives a Request, w/);
    expect(error.message).toContain(fix);
    expect(error.loc).toEqual({ file: "/app/src/a.server.ts", ...parseMarkedCode(text).location });
  });

  test.each([
    "async (request) => new Response(request.body)",
    "async (request) => request.body.getReader()",
    "async (request) => request.body?.pipeThrough(stream)",
    "async (request) => { for await (const part of request.body.values()) use(part); }",
    "async (request) => request.body.constructor.name",
    "async (request) => { const { name } = await request.json(); }",
    "async (request, params) => params.id",
    "async (request, { id }) => { const { body } = await load(id); return body.name; }",
    "async (request) => list.map((request) => request.body.name)",
    "async (request) => { const other = load(request); return other.body.name; }",
    "async (request) => { request = await wrap(request); return request.params.id; }",
    "async (request) => { request.params = { id: 1 }; return request.params.id; }",
    "async (request) => { addParams(request); return request.params.id; }",
    "async (request: Wrapped) => request.body.name",
    "async (request = other) => request.body.name",
    "handle",
  ])("is accepted if it may be correct: %s", (fn) => {
    expect(() => read(inRoute(fn))).not.toThrow();
  });
});

test("a function that is no route may read the body of what it receives", () => {
  expect(() => read("export const add = async (req) => req.body.name;")).not.toThrow();
});
