import { describe, expect, test } from "vitest";
import {
  compileErrorAt,
  compileErrorOf,
  inMemoryResolver,
  parseMarkedCode,
  readTestModule,
} from "#test/in-memory-modules";
import { readListedModules } from "./listed-modules.ts";
import { checkApplicationModules, checkListedModule, checkModuleList, unlistedModules } from "./module-list.ts";

const FILES = {
  "src/guests.server.ts": 'import { server } from "tsweb";\nexport const sign = server(() => 1);',
  "src/pages.server.tsx": 'import { page } from "tsweb";\nexport const home = page("/", () => null);',
  "src/more.server.tsx":
    'import { page } from "tsweb";\nexport const a = page("/a", () => null);\nexport const again = page(«"/", () => null);',
  "src/component.server.tsx": "export default function Home() { return null; }\nexport interface Props {}",
  "src/forgotten.server.ts": "export const sign = async (name: string) => name;\nexport const MAX = 3;",
  "src/handlers.server.ts": "export async function GET() {}",
  "src/loader.server.tsx": "export const helper = 1;\nexport const loader = async () => ({});",
  "src/two.server.ts": "export const all = async () => [];\nexport async function greet() {}",
  "src/greeter.tsx":
    'import { view } from "tsweb/browser";\nimport { greet } from "./two.server.ts";\nexport const Greeter = view(() => greet);',
  "src/greeting.server.tsx":
    'import { page } from "tsweb";\nimport { Greeter } from "./greeter.tsx";\nimport { all } from "./two.server.ts";\nexport const greeting = page("/greeting", () => all);',
  "src/helpers.ts": "export const help = () => 1;",
  "src/made.server.ts": 'import { make } from "auth-kit";\nexport const login = make();',
  "src/all.server.ts": 'export * from "./guests.server.ts";',
  "src/modules.ts": 'export * as guests from "./guests.server.ts";\nexport { listed as default } from "somewhere";',
};

const app = (imports: string, modules: string) =>
  `import { App } from "tsweb";\n${imports}\nexport default new App({ modules: ${modules} });`;

const readApp = (text: string) => readTestModule("src/app.ts", text);

async function checkListed(file: keyof typeof FILES, appText: string): Promise<void> {
  const resolver = inMemoryResolver(FILES);
  const listed = await readListedModules(readApp(appText), resolver);
  await checkListedModule(readTestModule(file, FILES[file]), listed, resolver);
}

describe("an element of `modules`", () => {
  test.each([
    [
      app('import guests from "./guests.server.ts";', "[«guests]"),
      'this is the default export of src/guests.server.ts. Import the module as a namespace: `import * as guests from "./guests.server.ts"`.',
    ],
    [app('import { sign } from "./guests.server.ts";', "[«sign]"), 'this is "sign" of src/guests.server.ts.'],
    [
      app('import * as helpers from "./helpers.ts";', "[«helpers]"),
      "src/helpers.ts serves nothing: it exports help, but no page(), route(), server() or query(). Wrap each function",
    ],
  ])("is rejected: %s", async (text, message) => {
    const error = await compileErrorAt("src/app.ts", text, (text) =>
      checkModuleList(readApp(text), inMemoryResolver(FILES)),
    );
    expect(error.message).toContain(message);
  });

  test.each([
    app(
      'import * as guests from "./guests.server.ts";\nimport * as pages from "./pages.server.tsx";',
      "[guests, pages]",
    ),
    app('import * as made from "./made.server.ts";', "[made]"),
    app('import * as all from "./all.server.ts";', "[all]"),
    app('import { guests } from "./modules.ts";', "[guests]"),
    app('import listed from "./modules.ts";', "[listed]"),
    app('import * as kit from "auth-kit";', "[kit]"),
    app("const list = [];", "[...list]"),
    app('import list from "./modules.ts";', "list"),
    app('import { guests } from "./modules.ts";', "guests"),
    app("const list = load();", "list"),
    app('import * as guests from "./guests.server.ts";\nconst more = {};', "[guests], ...more"),
  ])("is accepted, or unknown: %s", async (text) => {
    await expect(checkModuleList(readApp(text), inMemoryResolver(FILES))).resolves.toBeUndefined();
  });
});

describe("the value of `modules`", () => {
  const imports = 'import * as guests from "./guests.server.ts";\nimport * as pages from "./pages.server.tsx";';

  test.each([
    [app(imports, "«guests"), "this is one module. Write `modules: [guests]`."],
    [app(imports, "(«guests as never)"), "this is one module. Write `modules: [guests]`."],
    [app(imports, "«{ guests, pages }"), "this is an object. Write `modules: [guests, pages]`."],
    [app(imports, "«{ a: guests }"), "this is an object. Write `modules: […]`."],
    [app(`${imports}\nconst list = «{ guests };`, "list"), "this is an object. Write `modules: [guests]`."],
  ])("is rejected if it is no list: %s", async (text, message) => {
    const error = await compileErrorAt("src/app.ts", text, (text) =>
      checkModuleList(readApp(text), inMemoryResolver(FILES)),
    );
    expect(error.message).toBe(`\`modules\` must be a list, and ${message}`);
  });
});

describe("a server module that serves nothing", () => {
  const check = checkListed;

  test.each([
    [
      "src/component.server.tsx",
      'it exports default, but no page(), route(), server() or query(). Declare its page as `export const home = page("/…", () => …)`',
    ],
    [
      "src/forgotten.server.ts",
      "it exports sign, MAX, but no page(), route(), server() or query(). Wrap each function that the browser calls in server(), as in `export const sign = server((…) => …)`",
    ],
    [
      "src/handlers.server.ts",
      'it exports GET, but no page(), route(), server() or query(). Declare a route: `export const name = route("GET /…", async (request) => …)`.',
    ],
    [
      "src/loader.server.tsx",
      'it exports helper, loader, but no page(), route(), server() or query(). Load the data in the function of the page: `page("/…", async () => …)`.',
    ],
  ] as const)("is rejected at its first export if it is listed: %s", async (file, message) => {
    const error = await compileErrorOf(() => check(file, app(`import * as m from "./${file.slice(4)}";`, "[m]")));
    expect(error.message).toContain(`${file} serves nothing: ${message}`);
    expect(error.loc).toMatchObject({ file: `/app/${file}`, line: 1 });
    await expect(check(file, app("", "[]"))).resolves.toBeUndefined();
  });

  test("is rejected at the function that a view imports", async () => {
    const imports = 'import * as two from "./two.server.ts";\nimport * as greeting from "./greeting.server.tsx";';
    const error = await compileErrorOf(() => check("src/two.server.ts", app(imports, "[two, greeting]")));
    expect(error.message).toBe(
      "src/two.server.ts serves nothing: it exports all, greet, but no page(), route(), server() or query(). src/greeter.tsx imports " +
        "greet: wrap it in server(), as in `export const greet = server((…) => …)`.",
    );
    expect(error.loc).toMatchObject({ file: "/app/src/two.server.ts", line: 2 });
  });

  test.each(["src/made.server.ts", "src/all.server.ts", "src/guests.server.ts"] as const)(
    "is not one that may serve something: %s",
    async (file) => {
      await expect(check(file, app(`import * as m from "./${file.slice(4)}";`, "[m]"))).resolves.toBeUndefined();
    },
  );
});

describe("a path that two modules declare", () => {
  const imports = 'import * as pages from "./pages.server.tsx";\nimport * as more from "./more.server.tsx";';
  const check = (modules: string, file: keyof typeof FILES = "src/more.server.tsx") =>
    checkListed(file, app(imports, modules));

  test("is rejected in the module that the application lists later", async () => {
    const error = await compileErrorOf(() => check("[pages, more]"));
    expect(error.message).toBe(
      'Another page has the path "/" already (src/pages.server.tsx:2), so one of them would never be reached. Change one of the paths.',
    );
    expect(error.loc).toEqual({
      file: "/app/src/more.server.tsx",
      ...parseMarkedCode(FILES["src/more.server.tsx"]).location,
    });
    await expect(check("[pages, more]", "src/pages.server.tsx")).resolves.toBeUndefined();
  });

  test("is accepted if the application does not serve both modules", async () => {
    await expect(check("[more]")).resolves.toBeUndefined();
    await expect(check("[pages]")).resolves.toBeUndefined();
  });
});

describe("a module that the application imports and does not list", () => {
  const warnings = (text: string) => unlistedModules(readApp(text), inMemoryResolver(FILES));
  const imports = 'import * as guests from "./guests.server.ts";\nimport * as pages from "./pages.server.tsx";';

  test("is reported", async () => {
    expect(await warnings(app(imports, "[guests]"))).toEqual([
      "src/app.ts imports pages and does not list it in `modules`, so what src/pages.server.tsx declares is not served. Add pages to `modules` of new App.",
    ]);
  });

  test.each([
    app(imports, "[guests, pages]"),
    app(`${imports}\nconsole.log(pages);`, "[guests]"),
    app(`${imports}\nconst list = [guests, pages];`, "list"),
    app('import * as config from "./forgotten.server.ts";', "[]"),
    app('import "./pages.server.tsx";', "[]"),
    app(imports, "[...others]"),
  ])("is not reported where it is used otherwise, or serves nothing: %s", async (text) => {
    expect(await warnings(text)).toEqual([]);
  });
});

describe("the middleware of Next.js", () => {
  const imports = 'import * as pages from "./pages.server.tsx";';
  const warnings = (file: string, code: string, text = app(imports, "[pages]")) =>
    checkApplicationModules(readApp(text), inMemoryResolver({ ...FILES, [file]: code }));

  test.each([
    ["src/middleware.ts", "middleware"],
    ["src/proxy.ts", "proxy"],
    ["middleware.ts", "middleware"],
    ["proxy.ts", "proxy"],
  ])("is reported, because it checks no request: %s", async (file, name) => {
    expect(await warnings(file, `const a = 1;\nexport function ${name}() { return a; }`)).toEqual([
      `${file}:2 exports ${name}, which only Next.js calls, so it checks no request. Set \`before\` of new App, or call it there.`,
    ]);
  });

  test.each<[string, string, string?]>([
    [
      "src/middleware.ts",
      "export function middleware() {}",
      app(`${imports}\nimport { middleware } from "./middleware.ts";`, "[pages]"),
    ],
    ["src/middleware.ts", "export const limit = 1;\nexport type middleware = 1;"],
    ["src/lib/middleware.ts", "export function middleware() {}"],
  ])("is not reported where a module imports it, or in another module: %s %s", async (file, code, text) => {
    expect(await warnings(file, code, text)).toEqual([]);
  });
});
