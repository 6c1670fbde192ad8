/**
 * Which modules of the package a production server can load.
 */
import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { repository } from "#test/copy-example";
import { hasTopLevelAwait } from "../../src/cli/build/server.ts";

const DIST = join(repository, "dist");

/** The entry points that only development and builds use. */
const TOOLS = ["./vite", "./package.json"];

/** Matches the specifiers of static and dynamic imports of modules of the package. */
const IMPORTS = /(?:\bfrom|\bimport)\s*\(?\s*"(\.{1,2}\/[^"]+\.js)"/g;
/** Matches those of static imports only. */
const STATIC_IMPORTS = /(?:\bfrom|\bimport)\s*"(\.{1,2}\/[^"]+\.js)"/g;

/** Returns the modules that these modules import, directly or indirectly, as paths below dist/. */
function reachableModules(entries: readonly string[], imports = IMPORTS): ReadonlySet<string> {
  const found = new Set(entries);
  for (const file of found) {
    for (const [, specifier = ""] of readFileSync(join(DIST, file), "utf8").matchAll(imports)) {
      found.add(relative(DIST, join(DIST, dirname(file), specifier)));
    }
  }
  return found;
}

/** Returns the modules behind the public entry points of the package, other than those of tools. */
function entryPoints(): string[] {
  const { exports }: { exports: Record<string, string | Record<string, string>> } = JSON.parse(
    readFileSync(join(repository, "package.json"), "utf8"),
  );
  return Object.entries(exports)
    .filter(([name]) => !TOOLS.includes(name))
    .flatMap(([, conditions]) => Object.values(conditions))
    .filter((file) => file.endsWith(".js"))
    .map((file) => relative(DIST, join(repository, file)));
}

const panelModules = (modules: ReadonlySet<string>) => [...modules].filter((file) => file.startsWith("panel/"));

describe("the development panel", () => {
  it("is imported by no public entry point and by no server of a built application [DEV-9]", () => {
    const modules = reachableModules(entryPoints());
    expect([...modules]).toEqual(expect.arrayContaining(["app.js", "server/pipeline.js", "adapters/workers.js"]));
    expect(panelModules(modules)).toEqual([]);
    const loadedByServe = reachableModules(["cli/index.js"], STATIC_IMPORTS);
    expect([...loadedByServe]).toContain("cli/bundles/cli-index.js");
    expect(panelModules(loadedByServe)).toEqual([]);
  });

  it("is imported by the development server", () => {
    expect(panelModules(reachableModules(["cli/index.js"]))).toContain("panel/index.js");
  });
});

describe("the modules of a production server", () => {
  it("await nothing while they are loaded, so that builds do not parse them", () => {
    const awaiting = [...reachableModules(entryPoints())].filter((file) =>
      hasTopLevelAwait(readFileSync(join(DIST, file), "utf8")),
    );
    expect(awaiting).toEqual([]);
  });
});
