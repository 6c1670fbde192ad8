import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { repository } from "#test/copy-example";

const folder = join(repository, "scripts", "openapi");

/** The packages of the tools, for a project that imports them. */
export const TOOL_PACKAGES = join(folder, "node_modules");

/** A problem that a linter has found. */
export interface Problem {
  /** The name of the document. */
  readonly name: string;
  readonly severity: "error" | "warning" | "information" | "hint";
  /** The linter and its rule, for example `redocly operation-summary`. */
  readonly rule: string;
  readonly message: string;
  readonly path: string;
}

/** Installs the tools, unless they are installed. */
export function installTools(): void {
  run(join(repository, "scripts", "openapi.mjs"), []);
}

/** Lints documents, by their names, with the recommended rules of Redocly and Spectral. */
export function lint(documents: Readonly<Record<string, unknown>>): readonly Problem[] {
  return JSON.parse(run(join(folder, "lint.mjs"), [], documents));
}

/** Returns the types that openapi-typescript generates from documents, by their names. */
export function generateTypes(documents: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  return JSON.parse(run(join(folder, "types.mjs"), [], documents));
}

/** Compiles a project with the TypeScript of this repository. @throws Error with the type errors */
export function compileProject(dir: string): void {
  run(join(repository, "node_modules/typescript/bin/tsc"), ["-p", dir]);
}

/**
 * Runs a script with Node and returns its output.
 *
 * @param input a value that the script reads as JSON
 * @throws Error with the output if it fails
 */
export function run(script: string, args: readonly string[], input?: unknown): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], {
    input: JSON.stringify(input) ?? "",
    encoding: "utf8",
    maxBuffer: 2 ** 26,
  });
  if (status !== 0) throw new Error(`${script} failed:\n${stdout}\n${stderr}`);
  return stdout;
}
