/**
 * A project that has nothing to do with this repository: an empty folder elsewhere, into which the
 * packed package is installed as from the registry.
 */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { repository } from "#test/copy-example";

const execute = promisify(execFile);

/** The package as it would be published. */
export interface Packed {
  readonly file: string;
  /** What is in it. */
  readonly contents: readonly string[];
}

/** A project's folder. */
export interface Project {
  readonly dir: string;
  /**
   * Runs a command in it to its end.
   *
   * @returns its standard output
   * @throws Error with all that it wrote, when it fails
   */
  run(command: string, ...args: string[]): Promise<string>;
  write(name: string, text: string): void;
}

/** Makes an empty folder outside of the repository, to be removed by whoever asked for it. */
export function emptyFolder(): { readonly dir: string; remove(): void } {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "tsweb-fresh-")));
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true }) };
}

/**
 * Packs the repository's package into a folder. It takes `dist/` as it is: `npm test` has built it,
 * and building again would pull it from under the other tests.
 */
export async function pack(folder: string): Promise<Packed> {
  if (!existsSync(join(repository, "dist/cli/index.js"))) throw new Error("tsweb is not built. Run npm run build.");
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder];
  const [packed] = JSON.parse(await succeed(repository, "npm", args));
  const contents = packed.files.map(({ path }: { path: string }) => path);
  return { file: join(folder, packed.filename), contents };
}

/** Makes a project of these files, in a folder that is there or not. */
export function project(dir: string, files: ReadonlyMap<string, string>): Project {
  const write = (name: string, text: string) => {
    const file = join(dir, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  };
  for (const [name, text] of files) write(name, text);
  return { dir, write, run: (command, ...args) => succeed(dir, command, args) };
}

/** Gives a folder's `node_modules` and those of the folders above it: all that Node would look into. */
export function modulesAbove(dir: string): string[] {
  const up = dirname(dir);
  const own = join(dir, "node_modules");
  return [...(existsSync(own) ? [own] : []), ...(up === dir ? [] : modulesAbove(up))];
}

async function succeed(cwd: string, command: string, args: readonly string[]): Promise<string> {
  // The test runner's own NODE_ENV would keep npm from installing, and Vite from developing.
  const { NODE_ENV: _env, VITEST: _vitest, ...env } = process.env;
  try {
    return (await execute(command, args, { cwd, env, maxBuffer: 64 * 1024 * 1024 })).stdout;
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string }; // execFile's own fields
    throw new Error(`${command} ${args.join(" ")} failed in ${cwd}:\n${stdout}${stderr}`, { cause: error });
  }
}
