import { describe, expect, test } from "vitest";
import { compileErrorOf, parseMarkedCode, readTestModule } from "#test/in-memory-modules";
import { checkAppCalls } from "./app-calls.ts";

const HEAD = 'import { App } from "tsweb"; import * as tsweb from "tsweb"; import express from "express";\n';
const check = async (code: string) => checkAppCalls(readTestModule("src/app.ts", code));

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
    const { code, location } = parseMarkedCode(HEAD + marked);
    const error = await compileErrorOf(() => check(code));
    expect(error.message).toMatch(message);
    expect(error.loc).toMatchObject(location ?? {});
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
      check(
        HEAD.replace(
          code.startsWith("class") ? "{ App }" : "{ Other }",
          code.startsWith("class") ? "{ Other }" : "{ App }",
        ) + code,
      ),
    ).resolves.toBeUndefined();
  });
});
