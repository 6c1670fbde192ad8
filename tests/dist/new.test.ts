/**
 * `tsweb new` of the packed package: the project that it creates is installed, tested, type-checked, built and served
 * by its own commands.
 */
import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { repository } from "#test/copy-example";
import { startNode } from "#test/run-tsweb";
import {
  createEmptyFolder,
  createProject,
  nodeModulesAbove,
  type PackedPackage,
  type Project,
  packRepository,
} from "./fresh-project.ts";

const ownManifest = JSON.parse(readFileSync(join(repository, "package.json"), "utf8"));

const FILES = [
  ".gitignore",
  "README.md",
  "package.json",
  "src/app.ts",
  "src/greeter.tsx",
  "src/greetings.server.ts",
  "src/pages.server.tsx",
  "src/style.css",
  "tests/greetings.test.ts",
  "tsconfig.json",
  "vitest.config.ts",
];

const folder = createEmptyFolder();
let packed: PackedPackage;
let home: Project;

beforeAll(async () => {
  packed = await packRepository(folder.dir);
  home = createProject(folder.dir, new Map());
  await home.run("tar", "-xzf", packed.file); // into package/, without any of its dependencies
  expect(nodeModulesAbove(join(folder.dir, "package"))).toEqual([]);
});

afterAll(() => folder.remove());

/** Runs `tsweb new` in a folder. The command needs no package but its own. */
const runNew = (dir: string, ...args: string[]) =>
  createProject(dir, new Map()).run(process.execPath, join(folder.dir, "package/bin/tsweb.js"), "new", ...args);

/** Lists the files below a folder, without installed packages. */
function filesIn(dir: string): string[] {
  const names = readdirSync(dir, { recursive: true, encoding: "utf8" });
  return names.filter((name) => !name.startsWith("node_modules") && statSync(join(dir, name)).isFile()).sort();
}

const manifestOf = (dir: string) => JSON.parse(readFileSync(join(dir, "package.json"), "utf8"));

describe("the new project", () => {
  let shop: Project;
  let created: string[];
  let manifest: ReturnType<typeof manifestOf>;

  beforeAll(async () => {
    expect(await runNew(folder.dir, "My Shop")).toContain("  cd 'My Shop'\n  npm install\n  npm run dev\n");
    shop = createProject(join(folder.dir, "My Shop"), new Map());
    created = filesIn(shop.dir);
    manifest = manifestOf(shop.dir); // before npm changes it
    await shop.run("npm", "install", "--no-audit", "--no-fund", "--prefer-offline", packed.file);
  });

  it("has exactly the listed files", () => {
    expect(created).toEqual(FILES);
  });

  it("has the name of its folder in every file", () => {
    expect(manifest.name).toBe("my-shop");
    for (const file of FILES) expect(readFileSync(join(shop.dir, file), "utf8")).not.toContain("my-app");
  });

  it("depends on this version of tsweb, and on the versions of the tools that this repository uses", () => {
    expect(manifest.dependencies).toEqual({ tsweb: `^${ownManifest.version}` });
    const tools = Object.keys(manifest.devDependencies);
    expect(manifest.devDependencies).toEqual(
      Object.fromEntries(tools.map((tool) => [tool, ownManifest.devDependencies[tool]])),
    );
  });

  it("has the option strict", () => {
    expect(readFileSync(join(shop.dir, "src/app.ts"), "utf8")).toContain("strict: true");
  });

  it("installs without problems", async () => {
    const tree = JSON.parse(await shop.run("npm", "ls", "--json"));
    expect(tree.problems).toBeUndefined();
  });

  it("passes its own tests", async () => {
    expect(await shop.run("npm", "test")).toMatch(/Tests.+2 passed/);
  });

  it("passes its own type check, which rejects a wrong call", async () => {
    await shop.run("npm", "run", "check");
    shop.write("src/wrong.ts", 'import { greet } from "./greetings.server.ts";\nexport const wrong = greet(1);\n');
    await expect(shop.run("npm", "run", "check")).rejects.toThrow("src/wrong.ts(2,28): error TS2345");
    await shop.run("rm", "src/wrong.ts");
  });

  it("builds with its own command", async () => {
    await shop.run("npm", "run", "build");
    expect(manifest.scripts).toMatchObject({ dev: "tsweb dev", start: "tsweb serve" });
  });

  it("serves its page, its style sheet and its function", async () => {
    const env = { WEB_AUTH_SECRET: randomBytes(32).toString("hex") };
    const server = await startNode(shop.dir, ["node_modules/tsweb/bin/tsweb.js", "serve"], env);
    const call = async (args: object) => {
      const headers = { "content-type": "application/json" };
      const body = JSON.stringify({ args });
      const response = await fetch(`${server.address}/__web/rpc/greet`, { method: "POST", headers, body });
      return { status: response.status, body: await response.json() };
    };
    try {
      const page = await (await fetch(server.address)).text();
      expect(page).toContain("<h1>my-shop</h1>");
      const [sheet = ""] = /(?<=<link rel="stylesheet" href=")[^"]+/.exec(page) ?? [];
      expect((await fetch(new URL(sheet, server.address))).headers.get("content-type")).toContain("text/css");
      expect(await call({ name: " Ada " })).toEqual({ status: 200, body: { result: "Hello Ada, from the server." } });
      expect(await call({ name: " " })).toMatchObject({ status: 422, body: { error: { code: "validation_error" } } });
      expect(await call({ name: ["Ada"] })).toMatchObject({
        status: 422,
        body: { error: { details: { parameter: "name" } } },
      });
    } finally {
      expect(await server.stop()).toBe(0);
    }
  });
});

describe("the folder of the new project", () => {
  it("can be the current folder if that is empty", async () => {
    const here = join(folder.dir, "here");
    mkdirSync(here);
    expect(await runNew(here, ".")).toContain("Next:\n\n  npm install\n");
    expect(filesIn(here)).toEqual(FILES);
    expect(manifestOf(here).name).toBe("here");
    await expect(runNew(here, ".")).rejects.toThrow(". is not empty: it contains ");
  });

  it("cannot be a folder with files, and such a folder is not changed", async () => {
    const full = join(folder.dir, "full");
    mkdirSync(full);
    writeFileSync(join(full, "notes.txt"), "mine");
    await expect(runNew(folder.dir, "full")).rejects.toThrow(
      /^full is not empty: it contains notes\.txt\. Nothing was written\./m,
    );
    expect(filesIn(full)).toEqual(["notes.txt"]);
  });

  it.each([
    [[], "tsweb new requires the folder to create. For example: tsweb new shop"],
    [[""], "tsweb new requires the folder to create."],
    [[" "], '" " cannot be the name of a folder. Choose another one: tsweb new shop'],
    [
      ["my", "shop"],
      "Too many arguments for tsweb new: shop. It takes one folder. Quote a name that contains a space.",
    ],
  ])("is not created for the invalid arguments %j", async (args, message) => {
    const before = readdirSync(folder.dir);
    const error: Error = await runNew(folder.dir, ...args).then(
      () => new Error("The project was created."),
      (error) => error,
    );
    expect(error.message).toContain(message);
    expect(error.message).not.toMatch(/^ +at /m);
    expect(readdirSync(folder.dir)).toEqual(before);
  });
});
