import { describe, expect, test } from "vitest";
import { compileErrorAt, readTestModule } from "#test/in-memory-modules";

const HEAD = 'import { server } from "tsweb";\n';

const readFunctions = (text: string) => readTestModule("src/a.server.ts", text);

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
    const error = await compileErrorAt("src/a.server.ts", text, readFunctions);
    expect(error.message).toBe(
      `The server function "hello" has the parameters (${parameters}) of a request handler of Express. The parameters of a ` +
        "server function are the arguments of its caller, and it returns the result: `hello = server(async (text: string) => …)`. " +
        'The headers and cookies are in `request` of "tsweb". route() receives the request itself.',
    );
  });

  test("is a compile error where the function is declared", async () => {
    await compileErrorAt(
      "src/a.server.ts",
      `${HEAD}async function handle(«req, res) { res.end(); }\nexport const hello = server(handle);`,
      readFunctions,
    );
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
    expect(() => readFunctions(`${HEAD}export const hello = server(${fn});`)).not.toThrow();
  });

  test("is accepted in functions that are no server functions", () => {
    expect(() => readFunctions("export const handle = (req, res) => { res.json({}); };")).not.toThrow();
  });
});

const inRoute = (fn: string) => `import { route } from "tsweb";\nexport const add = route("POST /guests/:id", ${fn});`;

const readRoutes = (text: string) => readTestModule("src/a.server.ts", text);

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
    const error = await compileErrorAt("src/a.server.ts", inRoute(fn), readRoutes);
    expect(error.message).toMatch(/^A route receives a Request, w/);
    expect(error.message).toContain(fix);
  });

  test.each([
    ["(req: any, res: any) => { «res.json({ a: 1 }); }", "without json()."],
    ["async (request, response) => { «response.status(404).end(); }", "without status()."],
    ["async (req: Request, res: any) => «res.send(await req.text())", "without send()."],
    ["(req, reply) => { later(() => «reply.redirect('/')); }", "without redirect()."],
  ])("is a compile error if it calls a response: %s", async (fn, message) => {
    const error = await compileErrorAt("src/a.server.ts", inRoute(fn), readRoutes);
    expect(error.message).toMatch(
      /^A route has no response object: .* Return the response: `return Response\.json\(data\);`/,
    );
    expect(error.message).toContain(message);
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
    expect(() => readRoutes(inRoute(fn))).not.toThrow();
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
    expect(() => readRoutes(inRoute(fn))).not.toThrow();
  });
});

test("a function that is no route may read the body of what it receives", () => {
  expect(() => readRoutes("export const add = async (req) => req.body.name;")).not.toThrow();
});
