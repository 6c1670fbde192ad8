import { describe, expect, test } from "vitest";
import { compileErrorOf, parseMarkedCode, readTestModule } from "#test/in-memory-modules";
import { App } from "../../app.ts";
import { APP_OPTIONS, checkAppOptions } from "./app-options.ts";

const check = (code: string) => checkAppOptions(readTestModule("src/app.ts", code));
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
    const { code, location } = parseMarkedCode(app(options));
    const error = await compileErrorOf(async () => check(code));
    expect(error.message).toContain(message);
    expect(error.loc).toMatchObject(location ?? {});
  });

  test.each(['{ modules: [guests], title: "Shop", ...more }', '{ modules, [name]: 1, "lang": "en" }', "options", ""])(
    "accepts %s",
    (options) => {
      check(app(options));
    },
  );

  test("is another one if it is not imported from tsweb", () => {
    check('import { App } from "other"; export default new App({ port: 3000 });');
  });

  test("has exactly these options", () => {
    for (const name of APP_OPTIONS) {
      expect(() => new App({ modules: [], [name]: undefined, env: {} })).not.toThrow(/Unknown option/);
    }
    const valid = APP_OPTIONS.join(", ");
    expect(() => new App({ modules: [], xyz: 1 } as never)).toThrow(`Valid options: ${valid}.`);
  });
});
