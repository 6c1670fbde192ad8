/**
 * A project outside of this repository: an empty folder into which the packed package is installed as from the
 * registry.
 */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { repository } from "#test/copy-example";

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
 * Packs the repository's package into a folder. It uses `dist/` as it is: `npm test` has built it, and another build
 * would replace it under the other tests.
 *
 * @param dir the folder of the package. Default: the repository
 */
export async function packRepository(folder: string, dir = repository): Promise<PackedPackage> {
  if (!existsSync(join(repository, "dist/cli/index.js"))) throw new Error("tsweb is not built. Run npm run build.");
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder];
  const [packed] = JSON.parse(await succeed(dir, "npm", args));
  const contents = packed.files.map(({ path }: { path: string }) => path);
  return { file: join(folder, packed.filename), contents };
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
