import { describe, expect, test } from "vitest";
import { compileErrorAt, readTestModule } from "#test/in-memory-modules";
import { App } from "../../app.ts";
import { APP_OPTIONS, checkAppCalls, checkAppOptions } from "./app.ts";

const checkOptions = (code: string) => checkAppOptions(readTestModule("src/app.ts", code));
const app = (options: string) => `import { App } from "tsweb";\nexport default new App(${options});`;

describe("new App", () => {
  test.each([
    [
      "{ modules: [], «middleware: [] }",
      "Unknown option middleware in new App. For code that runs before every request,",
    ],
    ["{ modules: [], «port: 3000 }", "Set the environment variable PORT."],
    ["{ «pages: [home] }", "List the modules with pages in `modules`."],
    ['{ modules: [], «"tite": "Shop" }', "Unknown option tite in new App. Did you mean title?"],
    ["{ modules: [], «xyz }", "Valid options: modules, title, "],
    ["{ modules: [], «strct() {} }", "Did you mean strict?"],
    [
      '{ modules: [guests, «"./pages.server.tsx"] }',
      '`modules` lists modules, and this is a path. Import the module: `import * as pages from "./pages.server.tsx"`, and list `pages`.',
    ],
  ])("rejects %s", async (options, message) => {
    const error = await compileErrorAt("src/app.ts", app(options), checkOptions);
    expect(error.message).toContain(message);
  });

  test.each(['{ modules: [guests], title: "Shop", ...more }', '{ modules, [name]: 1, "lang": "en" }', "options", ""])(
    "accepts %s",
    (options) => {
      checkOptions(app(options));
    },
  );

  test("is another one if it is not imported from tsweb", () => {
    checkOptions('import { App } from "other"; export default new App({ port: 3000 });');
  });

  test("has exactly these options", () => {
    for (const name of APP_OPTIONS) {
      expect(() => new App({ modules: [], [name]: undefined, env: {} })).not.toThrow(/Unknown option/);
    }
    const valid = APP_OPTIONS.join(", ");
    expect(() => new App({ modules: [], xyz: 1 } as never)).toThrow(`Valid options: ${valid}.`);
  });
});

const HEAD = 'import { App } from "tsweb"; import * as tsweb from "tsweb"; import express from "express";\n';
const checkCalls = async (code: string) => checkAppCalls(readTestModule("src/app.ts", code));

describe("a call of a method that an App does not have", () => {
  test.each([
    ["const app = new App({ modules: [] });\napp.«listen(3000);\nexport default app;", /listen\(\)\. Remove this call/],
    ["export default new App({ modules: [] }).«listen(3000);", /PORT/],
    ["const app = new tsweb.App({ modules: [] }); export default app; app.«use(() => 1);", /option `before`/],
    [
      "const app = new App({}); function start() { app.«get('/', () => 1); }",
      /Declare `page\(path, …\)` or `route\(…\)`/,
    ],
    ["const app = new App({}) as any; app.«get('/', () => 1);", /`modules` of new App/],
    ["const app = new App({}); (app as any).«post('/', () => 1);", /`modules` of new App/],
  ])("is rejected at its name: %s", async (marked, message) => {
    const error = await compileErrorAt("src/app.ts", HEAD + marked, checkCalls);
    expect(error.message).toMatch(message);
  });

  test.each([
    "const app = new App({ modules: [] }); await app.start(); export default app;",
    "const app = express(); app.listen(3000); app.get('/', () => 1);",
    "const app = new App({}); { const app = express(); app.listen(1); }",
    "let app = new App({}); app = express(); app.listen(3000);",
    "const app = new App({}); createServer(node(app)).listen(3000); new Map().get(app); app['listen'];",
    "class App {} const app = express();",
  ])("is no call of an App in: %s", async (code) => {
    await expect(
      checkCalls(
        HEAD.replace(
          code.startsWith("class") ? "{ App }" : "{ Other }",
          code.startsWith("class") ? "{ Other }" : "{ App }",
        ) + code,
      ),
    ).resolves.toBeUndefined();
  });
});
