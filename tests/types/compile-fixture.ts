import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/**
 * Compiles the files of `tests/types/fixtures`, each as a program of its own, since their declarations of claims and
 * channels apply to the whole program.
 */
export class FixtureCompiler {
  /** The folder with the sources of the package. */
  readonly source = join(ROOT, "src");
  /** The folder with the declarations that are published. */
  readonly published = join(ROOT, "dist");
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Creates a compiler. The caller has to {@link remove} it. */
  static async create(): Promise<FixtureCompiler> {
    // Inside the repository, so that the compiler finds the packages.
    return new FixtureCompiler(await mkdtemp(join(ROOT, "node_modules", ".types-")));
  }

  /**
   * Compiles a fixture.
   *
   * @param paths the files that the fixture imports, by their specifiers
   * @param options further options of the compiler
   * @returns the errors of the compiler, or an empty string
   */
  async errorsOf(fixture: string, paths: Readonly<Record<string, string>>, options: object = {}): Promise<string> {
    const config = {
      extends: join(ROOT, "tsconfig.json"),
      compilerOptions: {
        ...options,
        paths: Object.fromEntries(Object.entries(paths).map(([specifier, file]) => [specifier, [file]])),
        typeRoots: [join(ROOT, "node_modules/@types")],
      },
      include: [],
      files: [join(ROOT, "tests/types/fixtures", fixture)],
    };
    const path = join(this.#folder, `${fixture}.json`);
    await writeFile(path, JSON.stringify(config));
    return tsc("-p", path);
  }

  remove(): Promise<void> {
    return rm(this.#folder, { recursive: true });
  }
}

/** Returns the output of the TypeScript compiler: the errors, or an empty string. */
async function tsc(...args: string[]): Promise<string> {
  const compiler = join(ROOT, "node_modules/typescript/bin/tsc");
  try {
    return (await run(process.execPath, [compiler, ...args], { cwd: ROOT })).stdout;
  } catch (error) {
    return String((error as { stdout?: unknown }).stdout); // errors of execFile have the output
  }
}
