import { describe, expect, test } from "vitest";
import { compileErrorAt, readTestModule } from "#test/in-memory-modules";
import { pathProblem } from "./page-paths.ts";

const HEAD = 'import { page, route } from "tsweb";\n';

async function messageOf(code: string): Promise<string> {
  const error = await compileErrorAt("src/a.server.tsx", HEAD + code);
  return error.message;
}

describe("the path of a page", () => {
  test.each([
    ["/users/[id]", 'A parameter is written with a colon. Write "/users/:id".'],
    ["/users/{id}/edit", 'Write "/users/:id/edit".'],
    ["/users/<id>", 'Write "/users/:id".'],
    ["/users/<int:id>", 'Write "/users/:id".'],
    ["/docs/[...rest]", 'Write "/docs/**:rest".'],
    ["/docs/[[...rest]]", 'Write "/docs/**:rest".'],
    ["users", 'A path starts with one slash. Write "/users".'],
    ["users/:id", 'Write "/users/:id".'],
    ["//users", 'Write for example "/users".'],
    ["https://a.example/users", 'Write for example "/users".'],
    ["", 'Write for example "/users".'],
    ["/search?q=:q", 'A path has no query. Remove "?q=:q", and read the query from `request.query`.'],
    ["/a/:x/:x", 'The router reports: duplicate param name "x".'],
  ])("is rejected with what to write: %j", async (path, fix) => {
    const message = await messageOf(`export const a = page(«${JSON.stringify(path)}, () => null);`);
    expect(message.startsWith(`Invalid path ${JSON.stringify(path)}. `)).toBe(true);
    expect(message).toContain(fix);
  });

  test.each([
    ...[
      "/",
      "/users",
      "/users/",
      "/users/:id",
      "/users/:id?",
      "/docs/**:rest",
      "/docs/**",
      "/files/:name.:ext",
      "/a/*",
    ],
    ...["/users/:id(\\d+)", "/{pre-:x}?", "/@:name", "/a[b]", "/über", "/a.json", "/(en|de)/x", "/~:user/x"],
  ])("is accepted: %s", (path) => {
    expect(pathProblem(path)).toBeUndefined();
  });

  test("is checked where it is text, and left to the start of the application otherwise", () => {
    const code = `${HEAD}const base = "users";\nexport const a = page(base, () => null);\nexport const b = page(\`\${base}\`, () => null);`;
    expect(() => readTestModule("src/a.server.tsx", code)).not.toThrow();
  });
});

describe("the pattern of a route", () => {
  test("is rejected without a method, and with an invalid path", async () => {
    expect(await messageOf('export const a = route(«"/hook", () => null);')).toBe(
      'The route "/hook" has no method. Write it before the path, for example "GET /hook".',
    );
    for (const method of ["get", "Get"]) {
      expect(await messageOf(`export const a = route(«"${method} /hook", () => null);`)).toBe(
        `The route "${method} /hook" has its method in small letters. Write "GET /hook".`,
      );
    }
    expect(await messageOf('export const a = route(«"fetch /hook", () => null);')).toContain(
      'for example "GET /hook".',
    );
    expect(await messageOf('export const a = route(«"POST /users/[id]", () => null);')).toContain('"/users/:id"');
  });
});

describe("a path that a module declares twice", () => {
  test.each([
    ['export const a = page("/a", () => null);\nexport const b = page(«"/a", () => null);', "Another page"],
    ['export const a = page("/a/:x", () => null);\nexport const b = page(«"/a/:y", () => null);', "Another page"],
    ['export const a = page("/a", () => null);\nexport const b = route(«"GET /a", () => null);', "A page"],
    ['export const a = route("GET /a", () => null);\nexport const b = page(«`/a`, () => null);', "A route"],
    ['export const a = route("PUT /a", () => null);\nexport const b = route(«"PUT /a", () => null);', "Another route"],
  ])("is rejected at the second: %s", async (code, start) => {
    const message = await messageOf(code);
    expect(message.startsWith(`${start} has the path `)).toBe(true);
    expect(message).toContain("already (line 2), so one of them would never be reached.");
  });

  test.each([
    'export const a = page("/a", () => null);\nexport const b = route("POST /a", () => null);',
    'export const a = page("/a/:x", () => null);\nexport const b = page("/a/b", () => null);',
    'export const a = page("/a", () => null);\nexport const b = page("/b", () => null);',
  ])("is accepted for different requests: %s", (code) => {
    expect(() => readTestModule("src/a.server.tsx", HEAD + code)).not.toThrow();
  });
});

describe("a parameter of a page function", () => {
  test.each([
    ['export const a = page("/", ({ «searchParams }) => null);', "Read the query from `request.query`"],
    ['export const a = page("/:id", {}, async ({ «params }) => null);', "write `({ id }) => …`."],
    ['export const a = page("/:id", ({ id, «name: other }) => null);', "Its parameters: id."],
    ['export const a = page("/users", ({ «id }) => null);', "Write it in the path: `:id`."],
  ])("is rejected if the path has none of its name: %s", async (code, fix) => {
    const message = await messageOf(code);
    expect(message).toMatch(/^The path "\/[\w/:]*" has no parameter \w+\. /);
    expect(message).toContain(fix);
  });

  test.each([
    'export const a = page("/:id", ({ id }) => null);',
    'export const a = page("/:id?", ({ id: other = 1 }) => null);',
    'export const a = page("/docs/**:rest", ({ rest }) => null);',
    'export const a = page("/", ({ page = 1 }) => null);',
    'export const a = page("/:id", ({ ...all }) => null);',
    'export const a = page("/a/*", ({ 0: rest }) => null);',
    'export const a = page("/{:x}?/y", ({ x }) => null);',
    'export const a = page("/:year-:month", ({ year, month }) => null);',
    'export const a = page("/", (props) => null);',
    'export const a = page("/", Home); function Home({ x }) {}',
  ])("is accepted: %s", (code) => {
    expect(() => readTestModule("src/a.server.tsx", HEAD + code)).not.toThrow();
  });
});
