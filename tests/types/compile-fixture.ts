import { execFile } from "node:child_process";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** The folder with the sources of the package. */
export const SOURCE = join(ROOT, "src");

/** The folder with the declarations that are published. */
export const PUBLISHED = join(ROOT, "dist");

/** A fixture, and how it is compiled. */
export interface FixtureCase {
  /** A file of `tests/types/fixtures`. */
  readonly fixture: string;
  /** The files that it imports, by their specifiers. */
  readonly paths: Readonly<Record<string, string>>;
  /** Further options of the compiler. */
  readonly options?: object;
}

/**
 * Compiles fixtures in one process, each as a program of its own, since their declarations of claims and channels apply to the
 * whole program.
 *
 * @param cases the fixtures by names of their cases, which are valid names of folders
 * @returns the errors of the compiler in each case, or an empty string
 */
export async function compileFixtures<Name extends string>(
  cases: Readonly<Record<Name, FixtureCase>>,
): Promise<Record<Name, string>> {
  // Inside the repository, so that the compiler finds the packages.
  const folder = await mkdtemp(join(ROOT, "node_modules", ".types-"));
  const names = Object.keys(cases) as Name[]; // its keys are the names
  try {
    await Promise.all(names.map((name) => writeCase(join(folder, name), cases[name])));
    const output = await tsc(folder, "--build", "--noEmit", ...names);
    const errors = Object.fromEntries(names.map((name) => [name, ""])) as Record<Name, string>;
    let current: Name | undefined;
    for (const line of output.split("\n").filter((line) => line !== "")) {
      current = names.find((name) => line.startsWith(`${name}/`)) ?? current;
      if (current === undefined) throw new Error(`The compiler has failed:\n${output}`);
      errors[current] += `${line}\n`;
    }
    return errors;
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Writes the project of a case into a folder, with copies of the fixtures, so that errors name the case. */
async function writeCase(folder: string, { fixture, paths, options }: FixtureCase): Promise<void> {
  await cp(join(ROOT, "tests/types/fixtures"), folder, { recursive: true });
  const config = {
    extends: join(ROOT, "tsconfig.json"),
    compilerOptions: {
      ...options,
      paths: Object.fromEntries(Object.entries(paths).map(([specifier, file]) => [specifier, [file]])),
      typeRoots: [join(ROOT, "node_modules/@types")],
    },
    include: [],
    files: [fixture],
  };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify(config));
}

/** Returns the output of the TypeScript compiler: the errors, or an empty string. */
async function tsc(cwd: string, ...args: string[]): Promise<string> {
  const compiler = join(ROOT, "node_modules/typescript/bin/tsc");
  try {
    return (await run(process.execPath, [compiler, ...args], { cwd })).stdout;
  } catch (error) {
    const { stdout } = error as { stdout?: string }; // errors of execFile have the output
    if (!stdout) throw error;
    return stdout;
  }
}
