/** A project with React libraries, made of the files in docs/react-libraries.md and of those of a fixture. */
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { filesInMarkdown } from "../dist/readme.ts";
import { repository } from "./copy-example.ts";
import { installPackages } from "./host-packages.ts";
import { TestProject } from "./test-project.ts";

const FIXTURE = join(repository, "tests/compile/fixtures/react");

/** Returns the folder of a package of the fixture. */
export const installedPackage = (name: string) => join(FIXTURE, "node_modules", name);

/** A CommonJS package that requires React, as `use-sync-external-store` does, on which many libraries depend. */
const COMMONJS_HOOKS = {
  "package.json": '{ "name": "commonjs-hooks", "version": "1.0.0", "main": "index.js" }',
  "index.js": 'exports.useSyncExternalStore = require("react").useSyncExternalStore;',
  "index.d.ts": 'export { useSyncExternalStore } from "react";',
};

/** A view in the place of a chart. */
const NO_CHART = `import { view } from "tsweb/browser";
export const Chart = view(({ points }: { points: readonly unknown[] }) => <p>{points.length} points</p>);
`;

/**
 * Creates the project in a temporary folder, with links to the installed packages.
 *
 * Preact is not among the packages of the fixture: Node finds that of this repository, as tsweb does.
 *
 * @param options `hasCharts`: whether the charts of Recharts are drawn, which take longer to build than all other views
 */
export async function createReactProject({ hasCharts }: { hasCharts: boolean }): Promise<TestProject> {
  await installPackages(FIXTURE, "--legacy-peer-deps"); // without peer dependencies, which include Preact
  const project = TestProject.fromFiles(Object.fromEntries(documentedFiles()));
  for (const entry of readdirSync(FIXTURE)) {
    if (entry !== "node_modules") cpSync(join(FIXTURE, entry), project.file(entry), { recursive: true });
  }
  for (const [name, text] of Object.entries(COMMONJS_HOOKS)) project.write(`node_modules/commonjs-hooks/${name}`, text);
  if (!hasCharts) project.write("src/chart.tsx", NO_CHART);
  // The same chart with the version of Recharts that draws on the server.
  const chart = project
    .read("src/chart.tsx")
    .replace('"recharts"', '"recharts-2"')
    .replace("const Chart", "const Chart2");
  project.write("src/chart-2.tsx", chart);
  for (const name of installedNames()) link(project, name, installedPackage(name));
  for (const name of ["preact", "vitest", "typescript", "@types/node", "vite"]) {
    link(project, name, join(repository, "node_modules", name));
  }
  return project;
}

/** Returns the files of the page in docs/, and the tsconfig.json of a new project with the setting of the page. */
function documentedFiles(): ReadonlyMap<string, string> {
  const docs = readFileSync(join(repository, "docs/react-libraries.md"), "utf8");
  const [, setting = ""] = /`tsconfig\.json`[^`]*```json\n([\s\S]*?)^```$/m.exec(docs) ?? [];
  const template = JSON.parse(readFileSync(join(repository, "template/tsconfig.json"), "utf8"));
  const { compilerOptions } = JSON.parse(setting);
  const tsconfig = { ...template, compilerOptions: { ...template.compilerOptions, ...compilerOptions } };
  const vitest = readFileSync(join(repository, "template/vitest.config.ts"), "utf8");
  const files = filesInMarkdown(docs);
  if (files.size !== 5) throw new Error(`docs/react-libraries.md has ${files.size} files. Expected 5.`);
  return new Map([...files, ["tsconfig.json", JSON.stringify(tsconfig)], ["vitest.config.ts", vitest]]);
}

/** Returns the names of the installed packages of the fixture. Packages of a scope are in a folder with its name. */
function installedNames(): string[] {
  const namesIn = (folder: string) => readdirSync(join(FIXTURE, "node_modules", folder));
  return namesIn("")
    .filter((name) => !name.startsWith("."))
    .flatMap((name) => (name.startsWith("@") ? namesIn(name).map((inner) => `${name}/${inner}`) : [name]));
}

function link(project: TestProject, name: string, target: string): void {
  mkdirSync(project.file(join("node_modules", name, "..")), { recursive: true });
  symlinkSync(target, project.file(join("node_modules", name)), "dir");
}
