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
 * Installs packed packages into a folder as npm does, without their dependencies.
 *
 * @param packed the packages by name
 */
export async function installPacked(dir: string, packed: Readonly<Record<string, PackedPackage>>): Promise<Project> {
  const entries = Object.entries(packed);
  const dependencies = Object.fromEntries(entries.map(([name, { file }]) => [name, `file:${file}`]));
  const project = createProject(dir, new Map([["package.json", JSON.stringify({ dependencies })]]));
  for (const [name, { file }] of entries) {
    mkdirSync(join(dir, "node_modules", name), { recursive: true });
    await project.run("tar", "-xzf", file, "-C", `node_modules/${name}`, "--strip-components=1");
  }
  return project;
}

/** A project that `tsweb new` has created. */
interface NewProject {
  /** What the command has printed. */
  readonly output: string;
  /** The packed package that the output names. */
  readonly packedFile: string;
}

const NEW_PROJECT = "My Shop";

/**
 * Copies a project that `tsweb new` of the packed package has created and installed, once in a run of the tests, into a folder
 * with the packed package.
 */
export async function copyNewProject(folder: string): Promise<NewProject & { readonly project: Project }> {
  const shared = await newProjectOnce();
  await createProject(folder, new Map()).run("cp", "-a", join(shared, NEW_PROJECT), NEW_PROJECT);
  const created = JSON.parse(readFileSync(join(shared, "created.json"), "utf8"));
  return { ...created, project: createProject(join(folder, NEW_PROJECT), new Map()) };
}

/** Returns the folder of the project, with the packed package beside it. */
function newProjectOnce(): Promise<string> {
  return oncePerRun("new-project", async (target) => {
    const packed = await packRepository(target);
    const { dir } = await installPacked(join(target, "home"), { tsweb: packed });
    const program = join(dir, "node_modules/tsweb/bin/tsweb.js");
    const command = ["npm_config_prefer_offline=true", process.execPath, program, "new", NEW_PROJECT];
    const output = await createProject(target, new Map()).run("env", ...command);
    const created: NewProject = { output, packedFile: packed.file };
    writeFileSync(join(target, "created.json"), JSON.stringify(created));
  });
}

/**
 * Creates a project with the packages of a new project: npm has installed the packed package, TypeScript, the types of Node and
 * Vitest.
 *
 * @param folder an empty folder outside of the repository; the packed package is written into it, beside the project
 * @param files the files of the project. The installed packages are added to its package.json
 */
export async function createInstalledProject(
  folder: string,
  files: ReadonlyMap<string, string>,
): Promise<{ readonly project: Project; readonly packed: PackedPackage }> {
  const packed = await packRepository(folder);
  const installed = join(await newProjectOnce(), NEW_PROJECT);
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
  const manifest = { ...JSON.parse(files.get("package.json") ?? "{}"), dependencies, devDependencies };
  const all = new Map([...files, ["package.json", JSON.stringify(manifest)] as const]);
  const project = createProject(join(folder, "project"), all);
  await project.run("cp", "-a", join(installed, "node_modules"), join(installed, "package-lock.json"), ".");
  return { packed, project };
}

/** Returns the package-lock.json of the new project, for one with the packed package in its own folder. */
export async function lockOfInstalled(): Promise<string> {
  const lock = readFileSync(join(await newProjectOnce(), NEW_PROJECT, "package-lock.json"), "utf8");
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
