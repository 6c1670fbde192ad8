/**
 * `tsweb new` with all package managers and templates: `npm run matrix -- new` prints the results. It needs the npm
 * registry.
 */
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { repository } from "#test/copy-example";
import { type RunningServer, startProgram } from "#test/run-tsweb";
import { launch } from "../browser/chromium.ts";
import { createEmptyFolder, packRepository } from "./fresh-project.ts";
import { checkSources, installTools, type RunTool } from "./new-tools.ts";

const MANAGERS = ["npm", "pnpm", "yarn", "bun"] as const;
const TEMPLATES = ["minimal", "accounts", "board", "chat"] as const;

type Manager = (typeof MANAGERS)[number];
type Template = (typeof TEMPLATES)[number];

/** The packed files of tsweb and create-tsweb. */
interface Packed {
  readonly tsweb: string;
  readonly create: string;
}

/** The result of one project: its name such as `pnpm board`, the steps that passed, and the first failure. */
export interface NewResult {
  readonly project: string;
  readonly passed: readonly string[];
  readonly failure: string | null;
}

/**
 * Creates, installs, tests, type-checks, builds and serves a project for each package manager and template.
 *
 * @param filters names of package managers and templates. Default: all
 * @param report is called before each project
 */
export async function testNew(filters: readonly string[], report: (project: string) => void): Promise<NewResult[]> {
  const managers = select(MANAGERS, filters);
  const templates = select(TEMPLATES, filters);
  const folder = createEmptyFolder();
  const run = await installTools();
  const browser = await launch();
  try {
    const tsweb = (await packRepository(folder.dir)).file;
    const create = (await packRepository(folder.dir, join(repository, "packages/create-tsweb"))).file;
    const results: NewResult[] = [];
    for (const manager of managers) {
      for (const template of templates) {
        report(`${manager} ${template}`);
        const parent = join(folder.dir, `with ${manager}`); // a path with a space
        results.push(await testProject({ manager, template, parent, packed: { tsweb, create }, run, browser }));
      }
    }
    return results;
  } finally {
    await browser.close();
    folder.remove();
  }
}

/** Returns the values that filters name; all if they name none. */
function select<T extends string>(values: readonly T[], filters: readonly string[]): readonly T[] {
  const selected = values.filter((value) => filters.includes(value));
  return selected.length > 0 ? selected : values;
}

interface ProjectOptions {
  readonly manager: Manager;
  readonly template: Template;
  readonly parent: string;
  readonly packed: Packed;
  readonly run: RunTool;
  readonly browser: Browser;
}

async function testProject(options: ProjectOptions): Promise<NewResult> {
  const { manager, template, parent, run, browser } = options;
  const dir = join(parent, template);
  const passed: string[] = [];
  const steps: Readonly<Record<string, () => Promise<void>>> = {
    new: () => create(options),
    test: () => run(dir, manager, "run", "test"),
    check: () => run(dir, manager, "run", "check"),
    build: () => run(dir, manager, "run", "build"),
    start: () => openHome(browser, dir, ["serve"]),
    dev: () => openHome(browser, dir, ["dev"]),
    // These depend on the files only, which are the same with all package managers.
    ...(manager === "npm" ? checkSources(run, dir, template === "minimal") : {}),
  };
  for (const [name, step] of Object.entries(steps)) {
    try {
      await step();
      passed.push(name);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return { project: `${manager} ${template}`, passed, failure: `${name}: ${message}` };
    }
  }
  return { project: `${manager} ${template}`, passed, failure: null };
}

/**
 * Creates a project as a user does: the first template with the package tsweb, the others with create-tsweb, which has
 * no dependencies.
 */
async function create({ manager, template, parent, packed, run }: ProjectOptions): Promise<void> {
  const [file, command] = template === "minimal" ? [packed.tsweb, ["tsweb", "new"]] : [packed.create, ["create-tsweb"]];
  const [program = ""] = command;
  const args = [...command, template, "--template", template];
  mkdirSync(parent, { recursive: true });
  if (manager === "npm") await run(parent, "npm", "exec", "--yes", "--package", file, "--", ...args);
  if (manager === "pnpm") await run(parent, "pnpm", `--package=${file}`, "dlx", ...args);
  if (manager === "yarn") await run(parent, "yarn", "dlx", "-p", `${program}@file:${file}`, ...args);
  if (manager === "bun") {
    // bunx cannot run packed files: the package is installed in another project first.
    const home = join(parent, "home", program);
    mkdirSync(home, { recursive: true });
    await run(home, "bun", "init", "--minimal", "--yes");
    await run(home, "bun", "add", file);
    await run(home, "bunx", ...command, join(parent, template), "--template", template);
  }
  const { dependencies } = JSON.parse(readFileSync(join(parent, template, "package.json"), "utf8"));
  if (!/^file:(\.\.\/)+tsweb-[\d.]+\.tgz$/.test(dependencies.tsweb)) {
    throw new Error(`The project depends on tsweb ${dependencies.tsweb} instead of the packed file.`);
  }
}

/** Serves a project, and opens its first page in Chromium. */
async function openHome(browser: Browser, dir: string, args: readonly string[]): Promise<void> {
  const env = { WEB_AUTH_SECRET: randomBytes(32).toString("hex"), PORT: "0", NODE_ENV: undefined, VITEST: undefined };
  const program = join(dir, "node_modules/tsweb/bin/tsweb.js");
  const server: RunningServer = await startProgram(process.execPath, [program, ...args], { dir, env });
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    const problems: string[] = [];
    page.on("pageerror", (error) => problems.push(error.stack ?? error.message));
    page.on("response", (response) => {
      const isIcon = response.url().endsWith("/favicon.ico"); // which not every template has
      if (response.status() >= 400 && !isIcon) problems.push(`${response.status()} ${response.url()}`);
    });
    await page.goto(server.address, { waitUntil: "networkidle" });
    if ((await page.locator("h1").count()) === 0) problems.push(`The page has no heading: ${await page.content()}`);
    if (problems.length > 0) throw new Error(`${problems.join("\n")}\n${server.output()}`);
  } finally {
    await context.close();
    await server.stop();
  }
}
