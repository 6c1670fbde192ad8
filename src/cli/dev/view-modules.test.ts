import { afterEach, expect, test } from "vitest";
import { TestProject } from "#test/test-project";
import { viewModules } from "./view-modules.ts";

let project: TestProject;
afterEach(() => project.remove());

test("finds the modules with views, and no server modules, tests of other folders or installed packages", () => {
  const view = 'import { view } from "tsweb/browser";\nexport const V = view(() => null);\n';
  project = TestProject.fromFiles({
    "src/app.ts": 'import { App } from "tsweb";\nexport default new App({});\n',
    "src/a.tsx": view,
    "src/deep/[id].jsx": view,
    "src/b.ts": view.replaceAll('"', "'"),
    "src/pages.server.tsx": view,
    "src/x.server/c.tsx": view,
    "src/node_modules/p/d.tsx": view,
    "src/state.ts": 'import { state } from "tsweb/browser";\n',
    "src/notes.md": view,
    "other/e.tsx": view,
  });
  expect(viewModules(project.dir, project.file("src/app.ts")).sort()).toEqual([
    "src/a.tsx",
    "src/b.ts",
    "src/deep/[id].jsx",
  ]);
});
