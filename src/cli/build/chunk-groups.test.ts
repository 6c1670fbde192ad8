import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { chunkGroupOf, LIVE_MODULES, ownDistFolders } from "./chunk-groups.ts";

const DIST = ["/home/me/tsweb/dist/"];

describe("chunkGroupOf", () => {
  it.each([
    ["a file of this package, by its real path", "/home/me/tsweb/dist/browser/view.js", "runtime"],
    ["a file of this package below node_modules", "/app/node_modules/tsweb/dist/protocol/signature.js", "runtime"],
    [
      "a file of this package, as pnpm installs it",
      "/app/node_modules/.pnpm/tsweb@1.0.0/node_modules/tsweb/dist/browser/view.js",
      "runtime",
    ],
    [
      "a file of this package with Windows separators",
      "C:\\app\\node_modules\\tsweb\\dist\\browser\\view.js",
      "runtime",
    ],
    ["live updates of this package", "/home/me/tsweb/dist/browser/live.js", "live"],
    ["live updates below node_modules", "/app/node_modules/tsweb/dist/browser/subscribe.js", "live"],
    ["live updates with Windows separators", "C:\\app\\node_modules\\tsweb\\dist\\protocol\\live.js", "live"],
    ["forms of this package", "/home/me/tsweb/dist/browser/form-sending.js", "forms"],
    ["what only forms need", "/app/node_modules/tsweb/dist/protocol/form.js", "forms"],
    ["what only <select defaultValue> needs", "/app/node_modules/tsweb/dist/browser/selects.js", undefined],
    ["what only numbers in styles need", "/app/node_modules/tsweb/dist/protocol/html-props.js", undefined],
    ["what only presence needs", "/app/node_modules/tsweb/dist/browser/present.js", undefined],
    ["what only live queries need", "/app/node_modules/tsweb/dist/browser/live-value.js", undefined],
    ["Preact", "/app/node_modules/preact/dist/preact.module.js", "runtime"],
    ["Preact with Windows separators", "C:\\app\\node_modules\\preact\\dist\\preact.mjs", "runtime"],
    ["the hooks of Preact", "/app/node_modules/preact/hooks/dist/hooks.mjs", undefined],
    ["preact/compat with Windows separators", "C:\\app\\node_modules\\preact\\compat\\dist\\compat.mjs", undefined],
    ["the page script", "virtual:tsweb/islands", "runtime"],
    ["a resolved virtual module", "\0virtual:tsweb/islands", "runtime"],
    ["another package's dist/browser", "/app/node_modules/axios/dist/browser/axios.cjs", undefined],
    ["another package's dist/protocol", "/app/node_modules/other/dist/protocol/position.js", undefined],
    ["another package of a similar name", "/app/node_modules/tsweb-charts/dist/browser/chart.js", undefined],
    ["a scoped package of the same name", "/app/node_modules/@acme/tsweb/dist/browser/live.js", undefined],
    ["a file of a project inside the repository", "/home/me/tsweb/examples/accounts/src/sign-in.tsx", undefined],
    ["a project's own dist/browser", "/home/me/tsweb/examples/accounts/dist/browser/view.js", undefined],
    ["a folder whose name begins like ours", "/home/me/tsweb/dist-old/browser/view.js", undefined],
    ["a package whose name begins like Preact", "/app/node_modules/preact-iso/lazy.js", undefined],
  ])("puts %s into its group", (_what, id, group) => {
    expect(chunkGroupOf(id, DIST)).toBe(group);
  });

  it("compares drive letters without regard to case", () => {
    expect(chunkGroupOf("c:/tsweb/dist/browser/view.js", ["C:/tsweb/dist/"])).toBe("runtime");
  });

  it("names modules that exist", () => {
    const names = ["browser", "protocol"].flatMap((folder) =>
      readdirSync(fileURLToPath(new URL(`../../${folder}`, import.meta.url))).map((file) => `${folder}/${file}`),
    );
    const alternatives = [...LIVE_MODULES.source.matchAll(/([a-z]+)\\\/\(([^)]+)\)/g)].flatMap(
      ([, folder, files = ""]) => files.split("|").map((file) => `${folder}/${file}`),
    );
    expect(alternatives.length).toBeGreaterThan(3);
    for (const alternative of alternatives)
      expect(
        names.some((name) => name.startsWith(alternative)),
        alternative,
      ).toBe(true);
  });
});

describe("ownDistFolders", () => {
  let dir = "";
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  it("has the copy that the project imports, by its real path, and the running one", () => {
    dir = realpathSync(mkdtempSync(join(tmpdir(), "tsweb-dist-")));
    mkdirSync(join(dir, "packages/tsweb"), { recursive: true });
    writeFileSync(join(dir, "packages/tsweb/package.json"), '{ "name": "tsweb" }');
    mkdirSync(join(dir, "app/node_modules"), { recursive: true });
    symlinkSync(join(dir, "packages/tsweb"), join(dir, "app/node_modules/tsweb"), "dir");
    const running = fileURLToPath(new URL("../..", import.meta.url));
    expect(ownDistFolders(join(dir, "app"))).toEqual([running, join(dir, "packages/tsweb/dist/")]);
  });

  it("has only the running one for a project without a copy", () => {
    dir = mkdtempSync(join(tmpdir(), "tsweb-dist-"));
    expect(ownDistFolders(dir)).toHaveLength(1);
  });
});
