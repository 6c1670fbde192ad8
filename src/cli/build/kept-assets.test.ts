import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TemporaryFolder } from "#test/temporary-folder";
import type { Manifest } from "../../server/index.ts";
import { createBuildId, keepAssets, readEarlierBuild } from "./kept-assets.ts";

const DAY_MS = 86_400_000;
const NOW = Date.UTC(2026, 10, 22);

let folder: TemporaryFolder;
beforeEach(() => {
  folder = new TemporaryFolder("kept");
});
afterEach(() => folder.remove());

/** Writes a build with the given files, and the manifest that its names with a hash belong to. */
function writeBuild(name: string, time: number, files: readonly string[], changes: Partial<Manifest> = {}): Manifest {
  mkdirSync(join(folder.path, name), { recursive: true });
  for (const file of files) {
    const path = join(folder.path, name, "client", file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `${name} ${file}`);
  }
  const manifest: Manifest = {
    build: createBuildId("", time),
    islands: null,
    partViews: null,
    views: {},
    styles: {},
    appStyles: [],
    files,
    stubs: [],
    hashedFiles: files.filter((file) => file.startsWith("/assets/")),
    kept: [],
    assetBase: "/a/",
    ...changes,
  };
  writeFileSync(join(folder.path, name, "manifest.mjs"), `export const buildManifest = ${JSON.stringify(manifest)};\n`);
  return manifest;
}

/** Builds the next version with `--keep-from`, as the command does, and writes its manifest. */
async function buildNext(name: string, from: string, time: number, files: readonly string[]): Promise<Manifest> {
  const earlier = await readEarlierBuild(join(folder.path, from));
  if (!earlier) throw new Error(`${from} does not exist.`);
  const manifest = await keepAssets(writeBuild(name, time, files), earlier, join(folder.path, name, "client"));
  writeFileSync(join(folder.path, name, "manifest.mjs"), `export const buildManifest = ${JSON.stringify(manifest)};\n`);
  return manifest;
}

describe("a build that takes over the assets of an earlier one", () => {
  it("serves its hashed files, and none without a hash", async () => {
    writeBuild("one", NOW, ["/assets/view-aaaaaaaa.js", "/robots.txt"]);
    const manifest = await buildNext("two", "one", NOW + DAY_MS, ["/assets/view-bbbbbbbb.js"]);
    expect(manifest.files).toEqual(["/assets/view-aaaaaaaa.js", "/assets/view-bbbbbbbb.js"]);
    expect(manifest.hashedFiles).toEqual(manifest.files);
    expect(existsSync(join(folder.path, "two/client/robots.txt"))).toBe(false);
  });

  it("copies their compressed copies", async () => {
    writeBuild("one", NOW, ["/assets/view-aaaaaaaa.js"]);
    writeFileSync(join(folder.path, "one/client/assets/view-aaaaaaaa.js.br"), "compressed");
    await buildNext("two", "one", NOW + DAY_MS, []);
    expect(readFileSync(join(folder.path, "two/client/assets/view-aaaaaaaa.js.br"), "utf8")).toBe("compressed");
  });

  it("keeps its own file if both have one of a name", async () => {
    writeBuild("one", NOW, ["/assets/view-aaaaaaaa.js"]);
    const manifest = await buildNext("two", "one", NOW + DAY_MS, ["/assets/view-aaaaaaaa.js"]);
    expect([manifest.files, manifest.kept]).toEqual([["/assets/view-aaaaaaaa.js"], []]);
    expect(readFileSync(join(folder.path, "two/client/assets/view-aaaaaaaa.js"), "utf8")).toMatch(/^two/);
  });

  it("also takes over what that one has kept, for seven days after it was replaced", async () => {
    writeBuild("one", NOW, ["/assets/view-aaaaaaaa.js"]);
    await buildNext("two", "one", NOW + 100 * DAY_MS, ["/assets/view-bbbbbbbb.js"]);
    const third = await buildNext("three", "two", NOW + 106 * DAY_MS, ["/assets/view-cccccccc.js"]);
    expect(third.files.map((file) => file[13])).toEqual(["a", "b", "c"]);
    const fourth = await buildNext("four", "three", NOW + 107 * DAY_MS, ["/assets/view-dddddddd.js"]);
    expect(fourth.files.map((file) => file[13])).toEqual(["b", "c", "d"]);
  });

  it("does not list a file that no longer exists", async () => {
    writeBuild("one", NOW, ["/assets/view-aaaaaaaa.js"], { hashedFiles: ["/assets/gone-aaaaaaaa.js"] });
    expect((await buildNext("two", "one", NOW + DAY_MS, [])).files).toEqual([]);
  });

  it("takes over no file outside of the folder of the browser's files", async () => {
    writeBuild("one", NOW, []);
    writeFileSync(join(folder.path, "one/secret.js"), "secret");
    for (const file of ["/../secret.js", "/assets/../../secret.js", "../secret.js"]) {
      writeBuild("one", NOW, [], { hashedFiles: [file] });
      expect((await buildNext("two", "one", NOW + DAY_MS, [])).files).toEqual([]);
    }
  });
});

describe("the folder of an earlier build", () => {
  it("may be missing, as before the first deployment", async () => {
    expect(await readEarlierBuild(join(folder.path, "missing"))).toBeUndefined();
  });

  it.each([
    ["is empty", undefined],
    ["has another manifest", "export default 1;"],
    ["is a build without an id", 'export const buildManifest = { "files": [] };\n'],
  ])("is an error that names it if it %s", async (_problem, text) => {
    if (text !== undefined) writeFileSync(join(folder.path, "manifest.mjs"), text);
    await expect(readEarlierBuild(folder.path)).rejects.toThrow(`--keep-from: ${folder.path} contains no build`);
  });
});
