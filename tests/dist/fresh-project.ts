/**
 * A project outside of this repository: an empty folder into which the packed package is installed as from the
 * registry.
 */
import { execFile } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { repository } from "#test/copy-example";
import { oncePerRun } from "#test/once-per-run";

const execute = promisify(execFile);

/** The package as it would be published. */
export interface PackedPackage {
  readonly file: string;
  /** The paths of its files. */
  readonly contents: readonly string[];
}

/** A project's folder. */
export interface Project {
  readonly dir: string;
  /**
   * Runs a command in the folder and waits for its end.
   *
   * @returns its standard output
   * @throws Error with all of its output, when it fails
   */
  run(command: string, ...args: string[]): Promise<string>;
  write(name: string, text: string): void;
}

/** Creates an empty folder outside of the repository. The caller removes it. */
export function createEmptyFolder(): { readonly dir: string; remove(): void } {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "tsweb-fresh-")));
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true }) };
}

/**
 * Packs the repository's package into a folder, once in a run of the tests. It uses `dist/` as it is: `npm test` has built
 * it, and another build would replace it under the other tests.
 *
 * @param dir the folder of the package. Default: the repository
 */
export async function packRepository(folder: string, dir = repository): Promise<PackedPackage> {
  if (!existsSync(join(repository, "dist/cli/index.js"))) throw new Error("tsweb is not built. Run npm run build.");
  const shared = await oncePerRun(`packed-${basename(dir)}`, async (target) => {
    const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", target];
    writeFileSync(join(target, "packed.json"), await succeed(dir, "npm", args));
  });
  const [packed] = JSON.parse(readFileSync(join(shared, "packed.json"), "utf8"));
  const file = join(folder, packed.filename);
  copyFileSync(join(shared, packed.filename), file);
  return { file, contents: packed.files.map(({ path }: { path: string }) => path) };
}

/**
 * Creates a project into which the repository's package, TypeScript and the types of Node are installed as `npm install`
 * does it, once in a run of the tests.
 *
 * @param folder an empty folder outside of the repository; the packed package is written into it, beside the project
 * @param files the files of the project. The installed packages are added to its package.json
 */
export async function createInstalledProject(
  folder: string,
  files: ReadonlyMap<string, string>,
): Promise<{ readonly project: Project; readonly packed: PackedPackage }> {
  const packed = await packRepository(folder);
  const dir = join(folder, "project");
  cpSync(join(await installedOnce(), "project"), dir, { recursive: true, verbatimSymlinks: true });
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(dir, "package.json"), "utf8"));
  const manifest = { ...JSON.parse(files.get("package.json") ?? "{}"), dependencies, devDependencies };
  return { packed, project: createProject(dir, new Map([...files, ["package.json", JSON.stringify(manifest)]])) };
}

/** Returns the folder of the installed project, with the packed package beside it. */
function installedOnce(): Promise<string> {
  return oncePerRun("installed", async (target) => {
    const { file } = await packRepository(target);
    const { typescript, "@types/node": types } = JSON.parse(
      readFileSync(join(repository, "package.json"), "utf8"),
    ).devDependencies;
    const dependencies = { tsweb: `file:../${basename(file)}` };
    const manifest = JSON.stringify({
      private: true,
      dependencies,
      devDependencies: { typescript, "@types/node": types },
    });
    await createProject(join(target, "project"), new Map([["package.json", manifest]])).run("npm", ...NPM_INSTALL);
  });
}

/** Returns the package-lock.json of the installed project, for one with the packed package in its own folder. */
export async function lockOfInstalled(): Promise<string> {
  const lock = readFileSync(join(await installedOnce(), "project/package-lock.json"), "utf8");
  return lock.replaceAll("file:../tsweb", "file:tsweb");
}

/** Copies packages of the repository, and those that they depend on, into a project, as their installation would. */
export function copyPackages(names: readonly string[], dir: string): void {
  const copied = new Set(names);
  for (const name of copied) {
    const source = join(repository, "node_modules", name);
    cpSync(source, join(dir, "node_modules", name), { recursive: true });
    const { dependencies = {} } = JSON.parse(readFileSync(join(source, "package.json"), "utf8"));
    for (const dependency of Object.keys(dependencies)) {
      if (!existsSync(join(source, "node_modules", dependency))) copied.add(dependency);
    }
  }
}

/** The arguments of npm that install packages without requests that are not needed. */
const NPM_INSTALL = ["install", "--no-audit", "--no-fund", "--prefer-offline"] as const;

/** Writes a project of these files into a folder, which is created if necessary. */
export function createProject(dir: string, files: ReadonlyMap<string, string>): Project {
  const write = (name: string, text: string) => {
    const file = join(dir, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  };
  for (const [name, text] of files) write(name, text);
  return { dir, write, run: (command, ...args) => succeed(dir, command, args) };
}

/** Returns the `node_modules` folders in which Node searches packages: of a folder and of its parents. */
export function nodeModulesAbove(dir: string): string[] {
  const parent = dirname(dir);
  const modules = join(dir, "node_modules");
  return [...(existsSync(modules) ? [modules] : []), ...(parent === dir ? [] : nodeModulesAbove(parent))];
}

async function succeed(cwd: string, command: string, args: readonly string[]): Promise<string> {
  // With the test runner's NODE_ENV, npm would not install development dependencies, and Vite would not serve.
  const { NODE_ENV: _env, VITEST: _vitest, ...env } = process.env;
  try {
    return (await execute(command, args, { cwd, env, maxBuffer: 64 * 1024 * 1024 })).stdout;
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string }; // execFile's own fields
    throw new Error(`${command} ${args.join(" ")} failed in ${cwd}:\n${stdout}${stderr}`, { cause: error });
  }
}
