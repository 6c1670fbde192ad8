import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { FileReferences, findPaths, MAY_CONTAIN_PATHS, referenceWarnings } from "./file-references.ts";

describe("the paths in a module", () => {
  it.each([
    ['readFile("a.txt", "utf8");', "read a.txt"],
    ['await fs.promises.readFile("./a.txt");', "read ./a.txt"],
    ['readdirSync("mail").map(f);', "read mail"],
    ['migrate(db, { migrationsFolder: "drizzle" });', "read drizzle"],
    ['new URL("../a.txt", import.meta.url);', "module ../a.txt"],
    ['join(import.meta.dirname, "..", "mail");', "module ../mail"],
    ['path.resolve(__dirname, "a.txt");', "module a.txt"],
    ['readFile(project_path("a.txt"));', "project a.txt"],
    ['export const f = () => { if (x) return appendFileSync("a.txt", ""); };', "write a.txt"],
  ])("of %s are %s", (code, expected) => {
    expect(findPaths(code).map(({ kind, path }) => `${kind} ${path}`)).toEqual([expected]);
    expect(code).toMatch(MAY_CONTAIN_PATHS);
  });

  it.each([
    "readFile(name)",
    'readFile("a" + b)',
    'new URL("a", base)',
    'join(folder, "a")',
    'read("a")',
    '"readFile(1)"',
    'new Worker(new URL("./worker.ts", import.meta.url), { type: "module" })',
    'new SharedWorker(new URL("./worker.ts", import.meta.url))',
  ])("are unknown in %s", (code) => {
    expect(findPaths(code)).toEqual([]);
  });
});

it("finds the script of a thread of Node, which the build does not contain", () => {
  const code = 'import { Worker } from "node:worker_threads"; new Worker(new URL("./worker.js", import.meta.url));';
  expect(findPaths(code)).toEqual([{ kind: "module", path: "./worker.js" }]);
});

function referencesIn(code: string): readonly string[] {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "tsweb-references-")));
  onTestFinished(() => rmSync(root, { recursive: true }));
  mkdirSync(join(root, "src"));
  mkdirSync(join(root, "drizzle"));
  writeFileSync(join(root, "drizzle/0.sql"), "");
  writeFileSync(join(root, "guests.txt"), "");
  const references = new FileReferences(root);
  const { transform } = references.plugin();
  if (typeof transform !== "object") throw new Error("The plugin has no transform with a filter.");
  Reflect.apply(transform.handler, undefined, [code, join(root, "src/db.server.ts")]);
  return references.existing().map(({ module, path }) => `${module}: ${path}`);
}

describe("the references of an application", () => {
  it("are those to files and folders of the project", () => {
    expect(referencesIn('readFile("drizzle/0.sql"); new URL("../drizzle", import.meta.url);')).toEqual([
      "src/db.server.ts: drizzle/0.sql",
      "src/db.server.ts: drizzle",
    ]);
    expect(
      referencesIn(
        'readFile("missing"); readFile("/etc/passwd"); readFile("../x"); readdir("."); new URL("a:b", import.meta.url);',
      ),
    ).toEqual([]);
  });

  it("are none to a file that the application writes", () => {
    expect(referencesIn('readFile("guests.txt"); appendFile("./guests.txt", "Ada");')).toEqual([]);
  });
});

describe("the warnings of a build", () => {
  const reference = (path: string, isProjectPath = false) => ({ module: "src/db.server.ts", path, isProjectPath });

  it("name a file that is not copied, and how to copy and read it", () => {
    expect(referenceWarnings([reference("drizzle")], [])).toEqual([
      'src/db.server.ts reads drizzle, which is not copied into dist. If the built application needs it, add "drizzle" to ' +
        '"tsweb": { "include": […] } in package.json, and read it with project_path("drizzle").',
    ]);
    expect(referenceWarnings([reference("drizzle", true)], ["drizzle2/0.sql"])[0]).toMatch(/in package\.json\.$/);
  });

  it("name a file that is copied and read by another path", () => {
    expect(referenceWarnings([reference("drizzle")], ["drizzle/0.sql"])).toEqual([
      'src/db.server.ts reads drizzle, which is at another path in dist. If the built application needs it, read it with project_path("drizzle").',
    ]);
  });

  it("are none for a file that is copied and read with project_path", () => {
    expect(
      referenceWarnings([reference("drizzle", true), reference("drizzle/0.sql", true)], ["drizzle/0.sql"]),
    ).toEqual([]);
  });
});
