import { describe, expect, it } from "vitest";
import { appStyleSheets, importedModules, type ModuleGraph, sharedModules, styleSheetsOf } from "./index.ts";

type Imports = Readonly<Record<string, readonly string[]>>;

function graphOf(imports: Imports, dynamicImports: Imports = {}): ModuleGraph {
  return { imports: (id) => imports[id] ?? [], dynamicImports: (id) => dynamicImports[id] ?? [] };
}

const isView = (id: string) => id.endsWith("view.tsx");

describe("styleSheetsOf", () => {
  it("returns the sheets of all imports in the order in which they run, each once, also with a cycle", () => {
    const graph = graphOf({
      "/a.ts": ["/b.ts", "/a.css", "/c.ts"],
      "/b.ts": ["/b.scss", "/shared.css", "/a.ts"],
      "/c.ts": ["/shared.css", "/c.css"],
    });
    expect(styleSheetsOf("/a.ts", graph, { isView })).toEqual(["/b.scss", "/shared.css", "/a.css", "/c.css"]);
  });

  it("returns those that a module imports by import(), unless the browser runs that module", () => {
    const graph = graphOf(
      { "/page.ts": ["/view.tsx", "/part.ts"], "/view.tsx": ["/part.ts"], "/chart.ts": ["/chart.css"] },
      { "/page.ts": ["/page.css"], "/view.tsx": ["/late.css", "/chart.ts"], "/part.ts": ["/part.css"] },
    );
    expect(styleSheetsOf("/page.ts", graph, { isView })).toEqual(["/chart.css", "/part.css", "/page.css"]);
    expect(styleSheetsOf("/view.tsx", graph, { isView })).toEqual(["/chart.css"]);
  });
});

describe("appStyleSheets", () => {
  it("leaves out what only server modules import, in whatever case their names are written", () => {
    const graph = graphOf({
      "/src/app.ts": ["/src/app.css", "/src/pages.server.tsx", "/src/ADMIN.SERVER.TSX", "/src/theme.ts"],
      "/src/theme.ts": ["/src/theme.css"],
      "/src/pages.server.tsx": ["/src/pages.css"],
      "/src/ADMIN.SERVER.TSX": ["/src/admin.css"],
    });
    expect(appStyleSheets("/src/app.ts", { root: "/", graph, isView })).toEqual(["/src/app.css", "/src/theme.css"]);
  });
});

describe("sharedModules", () => {
  it("returns what every module imports, and none of the modules themselves", () => {
    const graph = graphOf({ "/a": ["/x", "/y", "/b"], "/b": ["/y", "/z"], "/z": ["/x"] });
    expect(sharedModules(["/a", "/b"], graph).sort()).toEqual(["/x", "/y", "/z"]);
    expect(sharedModules([], graph)).toEqual([]);
  });

  it("leaves out CSS modules, so that each has its style sheet in the manifest", () => {
    const graph = graphOf({ "/a": ["/x", "/x.module.css"], "/b": ["/x", "/x.module.css"] });
    expect(sharedModules(["/a", "/b"], graph)).toEqual(["/x"]);
    expect(sharedModules(["/a"], graph)).toEqual(["/x"]);
  });
});

describe("importedModules", () => {
  it("returns direct and indirect imports", () => {
    expect([...importedModules("/a", graphOf({ "/a": ["/b"], "/b": ["/c", "/a"] }))]).toEqual(["/b", "/c", "/a"]);
  });
});
