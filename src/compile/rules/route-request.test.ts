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
    ["(req: any, res: any) => { «res.json({ a: 1 }); }", "without json()."],
    ["async (request, response) => { «response.status(404).end(); }", "without status()."],
    ["async (req: Request, res: any) => «res.send(await req.text())", "without send()."],
    ["(req, reply) => { later(() => «reply.redirect('/')); }", "without redirect()."],
  ])("is a compile error if it calls a response: %s", async (fn, message) => {
    const text = inRoute(fn);
    const error = await compileErrorOf(() => read(text));
    expect(error.message).toMatch(
      /^A route has no response object: .* Return the response: `return Response\.json\(data\);`/,
    );
    expect(error.message).toContain(message);
    expect(error.loc).toEqual({ file: "/app/src/a.server.ts", ...parseMarkedCode(text).location });
  });

  test.each([
    "(request, params) => Response.json(params.json)",
    "(request, params) => send(params.send)",
    "(request, { res }) => res.end(1)",
    "(request, params: Loaded) => params.json()",
    "(request, params) => { const res = adapt(params); return res.json(); }",
    "(request, params) => list.map((params) => params.render())",
    "(request, params) => { params = load(params); return params.json(); }",
    "async (request) => request.json()",
  ])("is accepted if it calls no response: %s", (fn) => {
    expect(() => read(inRoute(fn))).not.toThrow();
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
