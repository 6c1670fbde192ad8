/**
 * `tsweb new` of the packed package: it creates and installs a project, which is tested, type-checked, built and served
 * by its own commands. `npm run matrix -- new` does this with all templates and package managers.
 */
import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { repository } from "#test/copy-example";
import { startNode } from "#test/run-tsweb";
import {
  copyNewProject,
  createEmptyFolder,
  createProject,
  installPacked,
  nodeModulesAbove,
  type PackedPackage,
  type Project,
  packRepository,
} from "./fresh-project.ts";

const ownManifest = JSON.parse(readFileSync(join(repository, "package.json"), "utf8"));

const FILES = [
  ".gitignore",
  "AGENTS.md",
  "README.md",
  "package.json",
  "public/favicon.ico",
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
const home = join(folder.dir, "home");
let packed: PackedPackage;
let packedCreate: PackedPackage;

beforeAll(async () => {
  [packed, packedCreate] = await Promise.all([
    packRepository(folder.dir),
    packRepository(folder.dir, join(repository, "packages/create-tsweb")),
  ]);
  await installPacked(home, { tsweb: packed, "create-tsweb": packedCreate });
  expect(nodeModulesAbove(home)).toEqual([join(home, "node_modules")]);
});

afterAll(() => folder.remove());

/** Runs `tsweb new` in a folder. */
const runNew = (dir: string, ...args: string[]) =>
  createProject(dir, new Map()).run(process.execPath, join(home, "node_modules/tsweb/bin/tsweb.js"), "new", ...args);

/** Lists the files below a folder, without installed packages. */
function filesIn(dir: string): string[] {
  const names = readdirSync(dir, { recursive: true, encoding: "utf8" });
  const isCreated = (name: string) => !/^(node_modules|package-lock\.json$)/.test(name);
  return names.filter((name) => isCreated(name) && statSync(join(dir, name)).isFile()).sort();
}

const manifestOf = (dir: string) => JSON.parse(readFileSync(join(dir, "package.json"), "utf8"));

describe("the new project", () => {
  let shop: Project;
  let output: string;
  let packedFile: string;
  let created: string[];
  let manifest: ReturnType<typeof manifestOf>;

  beforeAll(async () => {
    ({ project: shop, output, packedFile } = await copyNewProject(folder.dir));
    created = filesIn(shop.dir);
    manifest = manifestOf(shop.dir);
  });

  it("is created and installed with one command, which prints what it does and what to run next", () => {
    const [first, source, installing, ...rest] = output.split("\n");
    expect(first).toBe(`Created ${FILES.length} files in My Shop from the template minimal.`);
    expect(source).toBe(`The project installs tsweb from ${packedFile}. Keep this file.`);
    expect(installing).toBe("Installing packages with npm …");
    expect(rest.join("\n")).toMatch(
      /^Ready after [\d.]+ s\.\n\nNext:\n\n {2}cd 'My Shop'\n {2}npm run dev\n\nnpm test /m,
    );
  });

  it("has exactly the listed files", () => {
    expect(created).toEqual(FILES);
  });

  it("has the name of its folder in every file", () => {
    expect(manifest.name).toBe("my-shop");
    for (const file of FILES) expect(readFileSync(join(shop.dir, file), "utf8")).not.toContain("my-app");
  });

  it("depends on the packed file that created it, and on the versions of the tools that this repository uses", () => {
    expect(manifest.dependencies).toEqual({ tsweb: `file:../${basename(packed.file)}` });
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

  it("has a type check that rejects a wrong call", async () => {
    shop.write("src/wrong.ts", 'import { greet } from "./greetings.server.ts";\nexport const wrong = greet(1);\n');
    await expect(shop.run("npm", "run", "check", "--", "--skipLibCheck")).rejects.toThrow(
      "src/wrong.ts(2,28): error TS2345",
    );
    await shop.run("rm", "src/wrong.ts");
  });

  it("passes its type check and builds, with its own command", async () => {
    await shop.run("npm", "run", "build");
    expect(manifest.scripts).toMatchObject({ dev: "tsweb dev", build: "tsc && tsweb build", start: "tsweb serve" });
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
      const icon = await fetch(new URL("/favicon.ico", server.address)); // browsers request it, and report a 404 in the console
      expect(icon.headers.get("content-type")).toBe("image/vnd.microsoft.icon");
      const original = readFileSync(join(repository, "template/public/favicon.ico"));
      expect(Buffer.from(await icon.arrayBuffer()).equals(original)).toBe(true);
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
    expect(await runNew(here, ".", "--no-install")).toContain("Next:\n\n  npm install\n  npm run dev\n");
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

describe("a package in a folder that is not installed, such as a clone", () => {
  it("is packed for the new project", async () => {
    const clone = join(folder.dir, "clone");
    const project = createProject(clone, new Map([["README.md", ""]]));
    // Only what tsweb new uses: the compression of the rest takes most of the time of npm pack.
    const parts = ["package.json", "bin", "dist/cli", "dist/text"].map((part) => `package/${part}`);
    await project.run("tar", "-xzf", packed.file, "--strip-components=1", ...parts);
    await project.run(process.execPath, "bin/tsweb.js", "new", "../from-clone", "--no-install");
    const { dependencies } = manifestOf(join(folder.dir, "from-clone"));
    expect(dependencies).toEqual({ tsweb: `file:../clone/${basename(packed.file)}` });
    expect(filesIn(clone)).toContain(basename(packed.file));
  });
});

describe("an installation that fails", () => {
  let failure: Error;

  beforeAll(async () => {
    const bin = join(folder.dir, "bin");
    mkdirSync(bin);
    writeFileSync(join(bin, "npm"), "#!/bin/sh\necho 'npm error code ENOTCACHED' >&2\nexit 1\n", { mode: 0o755 });
    vi.stubEnv("PATH", `${bin}:${process.env.PATH}`);
    failure = await runNew(folder.dir, "offline").then(
      () => new Error("The installation has not failed."),
      (error) => error,
    );
    vi.unstubAllEnvs();
  });

  it("keeps the files, and ends with the commands that continue and status 1", () => {
    expect(failure.message).toMatch(/^npm install failed \(exit status 1\)\./m);
    expect(failure.message).toContain("and run:\n\n  cd offline\n  npm install\n  npm run dev\n");
    expect(filesIn(join(folder.dir, "offline"))).toEqual(FILES);
  });

  it("shows the messages of the package manager before its own", () => {
    expect(failure.message).toMatch(/ENOTCACHED[\s\S]+^npm install failed \(exit status 1\)\./m);
  });
});

describe("the package create-tsweb", () => {
  const runCreate = (...args: string[]) => {
    const program = join(home, "node_modules/create-tsweb/index.js");
    return createProject(folder.dir, new Map()).run(process.execPath, program, ...args);
  };

  it("has the version of tsweb, and no dependencies", () => {
    const { version, dependencies } = manifestOf(join(home, "node_modules/create-tsweb"));
    expect(version).toBe(ownManifest.version);
    expect(dependencies).toBeUndefined();
  });

  it("creates a project with the packed tsweb beside its own packed file", async () => {
    expect(await runCreate("team", "--template", "board", "--no-install")).toContain("from the template board.");
    expect(manifestOf(join(folder.dir, "team")).dependencies.tsweb).toBe(`file:../${basename(packed.file)}`);
  });

  it("prints its own name in its messages", async () => {
    await expect(runCreate()).rejects.toThrow("npm create tsweb@latest requires the folder to create. For example: ");
    expect(await runCreate("--help")).toContain("npm create tsweb@latest shop -- --template board\n");
  });
});

describe.each(["minimal", "accounts", "board", "chat"])("the template %s", (template) => {
  let dir: string;
  const read = (file: string) => readFileSync(join(dir, file), "utf8");

  beforeAll(async () => {
    dir = join(folder.dir, `from-${template}`);
    await runNew(folder.dir, `from-${template}`, "--template", template, "--no-install");
  });

  it("refers to no file outside of the project", () => {
    for (const file of filesIn(dir)) {
      const outside = [...read(file).matchAll(/(?<!\w)(?:\.\.\/)+[\w./-]*/g)].filter(
        ([path]) => !join(dir, dirname(file), path).startsWith(dir),
      );
      const allowed = file === "package.json" ? [`../${basename(packed.file)}`] : [];
      expect(
        outside.map(([path]) => path),
        file,
      ).toEqual(allowed);
    }
  });

  it("has the same scripts, and versions of packages that this repository uses", () => {
    const { scripts, dependencies, devDependencies } = manifestOf(dir);
    expect(scripts).toMatchObject(manifestOf(join(repository, "template")).scripts);
    const lock = JSON.parse(readFileSync(join(repository, "package-lock.json"), "utf8"));
    for (const name of Object.keys({ ...dependencies, ...devDependencies })) {
      if (name !== "tsweb") expect(Object.keys(lock.packages)).toContain(`node_modules/${name}`);
    }
  });

  it("has a README and an AGENTS.md whose links to files lead to files of the project or of the package", () => {
    for (const file of ["README.md", "AGENTS.md"]) {
      const links = [...read(file).matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, path = ""]) => path);
      expect(links.length).toBeGreaterThan(0);
      for (const link of links) {
        const inPackage = link.replace("node_modules/tsweb/", "");
        expect([...packed.contents, ...filesIn(dir)], `${file}: ${link}`).toContain(inPackage);
      }
    }
  });
});
