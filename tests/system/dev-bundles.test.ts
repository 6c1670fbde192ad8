/**
 * The bundles by which the process of `tsweb dev` loads the package.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { repository } from "#test/copy-example";
import { runProgram, startDev } from "#test/run-tsweb";
import { TestProject } from "#test/test-project";

const { exports } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8"));
const ENTRIES = Object.keys(exports).filter((name) => exports[name]["tsweb-dev"] !== undefined);

/** Prints the exported names of each entry point; for one that needs a browser, the error. */
const PRINT_NAMES = `
  const found = {};
  for (const entry of ${JSON.stringify(ENTRIES)}) {
    const names = import("tsweb" + entry.slice(1)).then(Object.keys);
    found[entry] = await names.then((list) => list.sort(), (error) => [error.name]);
  }
  console.log(JSON.stringify(found));`;

async function exportedNames(...options: string[]): Promise<Record<string, string[]>> {
  const { output } = await runProgram(repository, [...options, "--input-type=module", "-e", PRINT_NAMES]);
  return JSON.parse(output.trim().split("\n").at(-1) ?? "");
}

/** Returns the packages that a script imports before it runs, also through other scripts. */
function packagesOf(file: string, seen = new Set<string>()): string[] {
  if (seen.has(file)) return [];
  seen.add(file);
  const sources = [...readFileSync(file, "utf8").matchAll(/^(?:import|export)\b[^;]*?"([^"]+)";$/gm)].map(
    ([, name = ""]) => name,
  );
  return sources.flatMap((name) => (name.startsWith(".") ? packagesOf(resolve(file, "..", name), seen) : [name]));
}

it("are not loaded by the process that starts theirs, nor is Vite", () => {
  const folder = join(repository, "dist/cli/bundles");
  const parent = readdirSync(folder).filter((name) => readFileSync(join(folder, name), "utf8").includes("DevParent"));
  expect(parent).toHaveLength(1);
  const packages = packagesOf(join(folder, parent[0] ?? ""));
  expect(packages).toContain("node:child_process");
  expect(packages.filter((name) => !name.startsWith("node:"))).toEqual([]);
});

it("export what the single files of the package export", async () => {
  const bundled = await exportedNames("--conditions=tsweb-dev");
  expect(Object.keys(bundled)).toContain("./auth");
  expect(bundled["."]).toEqual(expect.arrayContaining(["App", "page", "server", "session"]));
  expect(bundled).toEqual(await exportedNames());
});

it("are what an application and the packages that it imports load", async () => {
  const throws =
    'export const stack = (call) => { try { call(); } catch (error) { return error.stack; } return ""; };\n';
  const project = TestProject.fromFiles({
    "src/app.ts": `import { App } from "tsweb";
import * as routes from "./routes.server.ts";
export default new App({ modules: [routes] });
`,
    "src/routes.server.ts": `import { route, session } from "tsweb";
import { stackOfPackage } from "uses-tsweb";
import { stack } from "./stack.ts";
export const stacks = route("GET /stacks", () => Response.json([stack(() => session.login("")), stackOfPackage()]));
`,
    "src/stack.ts": throws.replace("call", "call: () => unknown").replace("error.stack", "(error as Error).stack"),
    "node_modules/uses-tsweb/package.json": '{ "name": "uses-tsweb", "type": "module", "exports": "./index.js" }',
    "node_modules/uses-tsweb/index.js": `import { session } from "tsweb";
${throws}export const stackOfPackage = () => stack(() => session.login(""));
`,
  });
  onTestFinished(() => project.remove());
  const dev = await startDev(project.dir);
  onTestFinished(async () => void (await dev.stop()));
  const stacks = await (await fetch(`${dev.address}/stacks`)).json();
  expect(stacks).toHaveLength(2);
  for (const stack of stacks) {
    expect(stack).toContain("/dist/development/");
    expect(stack).not.toMatch(/\/dist\/(?!development\/)/);
  }
});
