import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { filesBelow } from "./files-below.ts";
import { BuildError } from "./project.ts";

/** The files from which the development server reads variables. A later file takes precedence. */
export const ENV_FILES = [".env", ".env.local"] as const;

/** A variable that the files cannot set: Vite sets it for the command, and packages have a variant for each value. */
const IGNORED = "NODE_ENV";

/** An environment whose variables can be set and deleted: `process.env`. */
type MutableEnvironment = Record<string, string | undefined>;

/**
 * The variables of `.env` and `.env.local` in a project's folder. A variable of the real environment takes precedence over
 * both, also an empty one.
 */
export class EnvFiles {
  readonly #root: string;
  readonly #env: MutableEnvironment;
  /** The variables that were set from the files. */
  #set: ReadonlyMap<string, string> = new Map();

  /** @param env receives the variables */
  constructor(root: string, env: MutableEnvironment) {
    this.#root = root;
    this.#env = env;
  }

  /** The absolute paths of the files, whether they exist or not. */
  get paths(): readonly string[] {
    return ENV_FILES.map((name) => join(this.#root, name));
  }

  /**
   * Reads the files, and sets their variables in the environment. A variable that is no longer in them is deleted.
   *
   * @returns the names of the variables that have changed; their values belong in no message
   * @throws BuildError for a file that exists and cannot be read
   */
  load(): readonly string[] {
    const values = new Map(this.paths.flatMap(readVariables));
    values.delete(IGNORED);
    const before = this.#set;
    for (const name of values.keys()) if (this.#env[name] !== undefined && !before.has(name)) values.delete(name);
    const names = [...new Set([...before.keys(), ...values.keys()])];
    const changed = names.filter((name) => before.get(name) !== values.get(name));
    for (const name of changed) {
      const value = values.get(name);
      if (value === undefined) delete this.#env[name];
      else this.#env[name] = value;
    }
    this.#set = values;
    return changed;
  }
}

/**
 * Returns where a variable is set: `.env`, `.env.local` or "the environment of the process"; `undefined` if it is not set.
 *
 * @param root the application's folder
 * @param env the environment with the variables of the files
 */
export function sourceOfVariable(variable: string, root: string, env: MutableEnvironment): string | undefined {
  const value = env[variable];
  if (!value) return undefined;
  const file = ENV_FILES.findLast((name) =>
    readVariables(join(root, name)).some(([name, text]) => name === variable && text === value),
  );
  return file ?? "the environment of the process";
}

function readVariables(file: string): [name: string, value: string][] {
  try {
    const text = readFileSync(file, "utf8").replace(/^\uFEFF/, "");
    return Object.entries(parseEnv(text)).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT") return [];
    throw new BuildError(
      `${file} cannot be read (${String(code ?? error)}). Make it a readable text file, or delete it.`,
    );
  }
}

/** Files that may name a variable: scripts, their configuration, and what a build bundles. */
const NAMING = /\.(?:[cm]?[jt]sx?|json|html|mdx?|vue|svelte)$/;

/**
 * Returns whether a file of an application contains a text, such as the name of a variable: in `src/` or `dist/`, or directly in
 * its folder. `true` if there is neither of both folders, so that nothing can be known.
 */
export function isNamedInProject(folder: string, text: string): boolean {
  const sources = ["src", "dist"].map((name) => filesBelow(join(folder, name)));
  if (sources.every((files) => files === undefined)) return true;
  const ownFiles = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
  const files = [...sources.flatMap((each) => each ?? []), ...ownFiles.map(({ name }) => join(folder, name))];
  return files.some((file) => NAMING.test(file) && contains(file, text));
}

function contains(file: string, text: string): boolean {
  try {
    return readFileSync(file, "utf8").includes(text);
  } catch {
    return true; // it cannot be read, so nothing is known
  }
}
