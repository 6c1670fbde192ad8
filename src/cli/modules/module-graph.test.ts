import { describe, expect, it } from "vitest";
import { appStyleSheets, importedModules, type ModuleGraph, sharedModules, styleSheetsOf } from "./module-graph.ts";

function graphOf(imports: Readonly<Record<string, readonly string[]>>): ModuleGraph {
  return { imports: (id) => imports[id] ?? [] };
}

describe("styleSheetsOf", () => {
  it("returns the sheets of all imports in the order in which they run, each once, also with a cycle", () => {
    const graph = graphOf({
      "/a.ts": ["/b.ts", "/a.css", "/c.ts"],
      "/b.ts": ["/b.scss", "/shared.css", "/a.ts"],
      "/c.ts": ["/shared.css", "/c.css"],
    });
    expect(styleSheetsOf("/a.ts", graph)).toEqual(["/b.scss", "/shared.css", "/a.css", "/c.css"]);
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
    expect(appStyleSheets("/src/app.ts", { root: "/", graph })).toEqual(["/src/app.css", "/src/theme.css"]);
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
