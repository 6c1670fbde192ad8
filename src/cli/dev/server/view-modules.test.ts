import { dirname, join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { TestProject } from "#test/test-project";
import { findBrowserModules } from "./view-modules.ts";

let project: TestProject;
afterEach(() => project.remove());

const view = (imports = "") =>
  `import { view } from "tsweb/browser";\n${imports}\nexport const V = view(() => null);\n`;

/** Finds the modules of the project. Bare specifiers are packages in `node_modules`, `linked` is one outside of the project. */
async function find(files: Record<string, string>) {
  project = TestProject.fromFiles(files);
  const resolve = async (specifier: string, importer: string) => {
    if (specifier === "missing") throw new Error("Cannot find the package.");
    if (specifier === "linked") return project.file("packages/linked/index.tsx");
    return /^\.{1,2}\//.test(specifier) ? join(dirname(importer), specifier) : `/node_modules/${specifier}/index.js`;
  };
  const { views, packages, unparsed } = await findBrowserModules(project.file("site/src/app.ts"), {
    root: project.file("site"),
    resolve,
  });
  const relative = (paths: Iterable<string>) => [...paths].map((file) => file.slice(project.dir.length + 1));
  return { views: relative(views), packages, unparsed: relative(unparsed) };
}

test("finds the modules with views in the folder of the application, and no server modules, other folders or installed packages", async () => {
  const { views } = await find({
    "site/src/app.ts": 'import { App } from "tsweb";\nexport default new App({});\n',
    "site/src/a.tsx": view(),
    "site/src/deep/[id].jsx": view(),
    "site/src/b.ts": view().replaceAll('"', "'"),
    "site/src/c.mts": view(),
    "site/src/pages.server.tsx": view(),
    "site/src/x.server/c.tsx": view(),
    "site/src/node_modules/p/d.tsx": view(),
    "site/src/state.ts": 'import { state } from "tsweb/browser";\n',
    "site/src/notes.md": view(),
    "site/other/e.tsx": view(),
  });
  expect(views).toEqual(["site/src/a.tsx", "site/src/b.ts", "site/src/c.mts", "site/src/deep/[id].jsx"]);
});

test("follows imports, re-exports and import() of server modules, shared modules and linked packages", async () => {
  const { views } = await find({
    "site/src/app.ts": 'import * as pages from "./pages.server.ts";\nexport default pages;\n',
    "site/src/pages.server.ts":
      'export * from "../pages/one.server.ts";\nexport { V } from "../shared/index.ts";\nconst late = () => import("../shared/late.tsx");\n' +
      'import type { Props } from "../shared/type.tsx";\nimport "linked";\nimport "missing";\nimport(variable);\n',
    "site/pages/one.server.ts": 'import { V } from "../shared/one.tsx";\n',
    "site/shared/index.ts":
      'export { V } from "./two.tsx";\nexport type { P } from "./type.tsx";\nimport "../src/app.ts";\n',
    "site/shared/one.tsx": view(),
    "site/shared/two.tsx": view(),
    "site/shared/late.tsx": view(),
    "site/shared/type.tsx": view(),
    "packages/linked/index.tsx": view(),
  });
  expect(views).toEqual([
    "packages/linked/index.tsx",
    "site/shared/late.tsx",
    "site/shared/one.tsx",
    "site/shared/two.tsx",
  ]);
});

test("returns the packages that modules import, without tsweb and those of server modules", async () => {
  const { packages } = await find({
    "site/src/app.ts": 'import * as pages from "./pages.server.ts";\n',
    "site/src/pages.server.ts": 'import pg from "pg";\nimport { V } from "./view.tsx";\n',
    "site/src/view.tsx": view('import "b";\nimport { part } from "./part.ts";\nimport type { T } from "types";'),
    "site/src/part.ts": 'export * from "a";\nconst load = () => import("chart/lines");\n',
  });
  expect(packages).toEqual(["a", "b", "chart/lines"]);
});

test("returns the modules with syntax errors, and follows the others", async () => {
  const { views, unparsed } = await find({
    "site/src/app.ts": 'import "./a.tsx";\nimport "./b.tsx";\n',
    "site/src/a.tsx": view("const = 1;"),
    "site/src/b.tsx": view('import "./c.tsx";'),
    "site/src/c.tsx": view(),
  });
  expect(unparsed).toEqual(["site/src/a.tsx"]);
  expect(views).toEqual(["site/src/a.tsx", "site/src/b.tsx", "site/src/c.tsx"]);
});
