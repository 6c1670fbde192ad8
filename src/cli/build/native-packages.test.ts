import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { copyNativePackages, nativePackageName } from "./server.ts";

let root: string;
let outDir: string;

beforeEach(() => {
  // Both are folders of their own: nothing beside the copied packages can be found from the second.
  root = realpathSync(mkdtempSync(join(tmpdir(), "tsweb-native-")));
  outDir = realpathSync(mkdtempSync(join(tmpdir(), "tsweb-native-out-")));
});

afterEach(() => {
  for (const folder of [root, outDir]) rmSync(folder, { recursive: true, force: true });
});

/** Writes files below the project's folder; an object is written as JSON. */
function write(files: Readonly<Record<string, string | object>>): void {
  for (const [path, content] of Object.entries(files)) {
    const file = join(root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  }
}

/** Links a package into a node_modules folder, as pnpm does. */
function link(from: string, to: string): void {
  mkdirSync(dirname(join(root, from)), { recursive: true });
  symlinkSync(join(root, to), join(root, from), "dir");
}

const nameOf = (source: string) => nativePackageName(source, join(root, "src/app.ts"));

const addon = (name: string, fields = {}) => ({ name, version: "1.0.0", main: "index.js", ...fields });

/** Copies packages, and returns the result of an import of the name in the folder that they were copied to. */
async function importCopied(name: string, file: string): Promise<unknown> {
  await copyNativePackages(new Map([[realpathSync(join(root, file)), name]]), outDir);
  const script = join(outDir, "run.mjs");
  writeFileSync(script, `import value from ${JSON.stringify(name)};\nconsole.log(JSON.stringify(value));\n`);
  return JSON.parse(execFileSync(process.execPath, [script], { encoding: "utf8", cwd: outDir }));
}

describe("nativePackageName", () => {
  it.each([
    ["npm compiles it", { "binding.gyp": "{}" }],
    ["CMake compiles it", { "CMakeLists.txt": "" }],
    ["it contains a file for each platform", { "prebuilds/linux-x64/x.node": "" }],
    ["it contains one file", { "x.linux-x64-gnu.node": "" }],
  ])("returns the name of a package with compiled code: %s", (_how, files) => {
    write({ "node_modules/x/package.json": addon("x") });
    for (const [file, text] of Object.entries(files)) write({ [`node_modules/x/${file}`]: text });
    expect(nameOf("x")).toBe("x");
    expect(nameOf("x/lib/part.js")).toBe("x");
  });

  it.each([{ os: ["linux"] }, { cpu: ["x64"] }])(
    "returns the name of a package with an optional package for each platform: %j",
    (platform) => {
      write({
        "node_modules/@acme/x/package.json": addon("@acme/x", {
          optionalDependencies: { "@acme/x-a": "1", "x-b": "1" },
        }),
        "node_modules/@acme/x-a/package.json": addon("@acme/x-a", {
          ...platform,
          exports: { "./x.node": "./lib/x.node" },
        }),
      });
      expect(nameOf("@acme/x")).toBe("@acme/x");
    },
  );

  it("returns the name of an installed package of nf3's list, whatever its folder contains", () => {
    write({ "node_modules/onnxruntime-node/package.json": addon("onnxruntime-node") });
    expect(nameOf("onnxruntime-node")).toBe("onnxruntime-node");
    expect(nameOf("sqlite3")).toBeUndefined(); // not installed
  });

  it("looks for the package of this platform where pnpm puts it", () => {
    const store = "node_modules/.pnpm/x@1.0.0/node_modules";
    write({
      [`${store}/x/package.json`]: addon("x", { optionalDependencies: { "x-linux": "1" } }),
      [`${store}/x-linux/package.json`]: addon("x-linux", { os: ["linux"] }),
    });
    link("node_modules/x", `${store}/x`);
    expect(nameOf("x")).toBe("x");
  });

  it.each([
    ["no compiled code", { "node_modules/x/package.json": addon("x") }],
    [
      "an optional dependency that runs everywhere",
      {
        "node_modules/x/package.json": addon("x", { optionalDependencies: { y: "1" } }),
        "node_modules/y/package.json": addon("y"),
      },
    ],
    [
      "compiled code in a dependency only",
      {
        "node_modules/x/package.json": addon("x", { dependencies: { y: "1" } }),
        "node_modules/y/package.json": addon("y"),
        "node_modules/y/binding.gyp": "{}",
      },
    ],
  ])("returns nothing for a package that can be bundled: %s", (_what, files) => {
    write(files);
    expect(nameOf("x")).toBeUndefined();
  });

  it.each(["./x.ts", "../x", "/x", "node:fs", "\0virtual", "virtual:x", "not-installed"])(
    "returns nothing for an import of %j",
    (source) => {
      expect(nameOf(source)).toBeUndefined();
    },
  );
});

describe("copyNativePackages", () => {
  it("writes nothing when no package has compiled code", async () => {
    await copyNativePackages(new Map(), outDir);
    expect(existsSync(join(outDir, "node_modules"))).toBe(false);
  });

  it("copies a file that a package loads by a computed name", async () => {
    write({
      "node_modules/x/package.json": addon("x"),
      "node_modules/x/index.js": 'module.exports = require("./" + process.env.NOT_SET?.name + ".json");',
      "node_modules/x/undefined.json": '"loaded"',
    });
    expect(await importCopied("x", "node_modules/x/index.js")).toBe("loaded");
  });

  it("copies the optional package for this platform", async () => {
    write({
      "node_modules/x/package.json": addon("x", { optionalDependencies: { "x-here": "1", "x-elsewhere": "1" } }),
      "node_modules/x/index.js": 'module.exports = require("x-" + ["here"][0] + "/x.json");',
      "node_modules/x-here/package.json": addon("x-here", { os: [process.platform] }),
      "node_modules/x-here/x.json": '"here"',
    });
    expect(await importCopied("x", "node_modules/x/index.js")).toBe("here");
  });

  it("copies dependencies from where pnpm puts them", async () => {
    const store = "node_modules/.pnpm/x@1.0.0/node_modules";
    write({
      [`${store}/x/package.json`]: addon("x", { dependencies: { y: "1" } }),
      [`${store}/x/index.js`]: 'module.exports = require("y");',
      "node_modules/.pnpm/y@1.0.0/node_modules/y/package.json": addon("y"),
      "node_modules/.pnpm/y@1.0.0/node_modules/y/index.js": 'module.exports = "y";',
    });
    link("node_modules/x", `${store}/x`);
    link(`${store}/y`, "node_modules/.pnpm/y@1.0.0/node_modules/y");
    expect(await importCopied("x", "node_modules/x/index.js")).toBe("y");
  });

  it("keeps two versions of one dependency apart", async () => {
    write({
      "node_modules/x/package.json": addon("x", { dependencies: { y: "2", z: "1" } }),
      "node_modules/x/index.js": 'module.exports = [require("y"), require("z")];',
      "node_modules/x/node_modules/y/package.json": { ...addon("y"), version: "2.0.0" },
      "node_modules/x/node_modules/y/index.js": 'module.exports = "y 2";',
      "node_modules/z/package.json": addon("z", { dependencies: { y: "1" } }),
      "node_modules/z/index.js": 'module.exports = require("y");',
      "node_modules/y/package.json": addon("y"),
      "node_modules/y/index.js": 'module.exports = "y 1";',
    });
    expect(await importCopied("x", "node_modules/x/index.js")).toEqual(["y 2", "y 1"]);
  });
});
