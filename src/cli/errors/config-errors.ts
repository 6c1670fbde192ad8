import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { type ConfigEnv, loadConfigFromFile, normalizePath } from "vite";
import { missingImportError, ProjectError } from "../../compile/index.ts";
import { BuildError } from "../project/index.ts";
import { errorText } from "./error-log.ts";
import { explainError, heading } from "./explain-error.ts";

/**
 * Runs work that loads a Vite config. The stacks of the errors that the config throws refer to its own lines. Rolldown's
 * warnings about missing packages are not printed: the error that follows has the location and the fix.
 *
 * @throws what the work throws
 */
export async function withConfigStacks<T>(work: () => Promise<T>): Promise<T> {
  const { warn } = console;
  const filtered: typeof warn = (...values) => {
    if (!String(values[0]).includes("[UNRESOLVED_IMPORT]")) warn(...values);
  };
  console.warn = filtered;
  process.setSourceMapsEnabled(true);
  try {
    return await work();
  } catch (error) {
    if (error instanceof Error) void error.stack; // it is computed, and mapped, when it is first read
    throw error;
  } finally {
    process.setSourceMapsEnabled(false); // Vite maps the stacks of the application by itself
    if (console.warn === filtered) console.warn = warn;
  }
}

/**
 * Runs work that loads a Vite config when a command starts.
 *
 * @throws BuildError with message, location and source lines, if the config cannot be loaded; ProjectError for another mistake
 */
export async function loadingConfig<T>(root: string, work: () => Promise<T>): Promise<T> {
  return withConfigStacks(work).catch((error: unknown) => {
    throw error instanceof ProjectError ? error : new BuildError(configErrorText(error, root));
  });
}

/** Formats an error of a Vite config for a terminal: message, location and source lines. */
function configErrorText(error: unknown, root: string): string {
  const explained = explainError(locateInConfig(error, root), root);
  // A stack without a line of the project is Vite's.
  return explained.location ? errorText(explained) : `\n${heading(explained)}\n`;
}

/**
 * Loads the Vite config of a project once more, and returns its error with its location as text: when Vite restarts, it
 * prints the message only. Returns `undefined` if the config can be loaded, or its error has no location.
 */
export async function locateConfigError(root: string, env: ConfigEnv): Promise<string | undefined> {
  try {
    await withConfigStacks(() => loadConfigFromFile(env, undefined, root, "silent"));
    return undefined;
  } catch (error) {
    const { location } = explainError(locateInConfig(error, root), root);
    return location ? configErrorText(error, root) : undefined;
  }
}

/** Vite compiles a config into such a file, in `node_modules/.vite-temp` if it can, and removes it. */
const COMPILED_CONFIG = /(?:file:\/\/)?\S*\/(vite\.config\.\w+)\.timestamp\S*?\.mjs/g;

/** The errors of Node, and of Rolldown, for an import of a package or a file that does not exist. */
const NOT_FOUND =
  /^(?:Cannot find (?:package|module)|Could not resolve) '(?<specifier>[^']+)' (?:imported from|in) (?<config>\S+)/;

/** Rolldown's error: its message, and a frame with the location. */
const OF_ROLLDOWN = /^(?<message>[^╭]*?)\s*╭─\[ (?<file>.+?):(?<line>\d+):(?<column>\d+) \]/s;

/** A position in a file, in a stack. */
const POSITION =
  /(?<=^\s*at .*?)(?<file>(?:\/|[A-Za-z]:[\\/])[^():]+\.[cm]?[jt]s):(?<line>\d+):(?<column>\d+)(?=\)?$)/gm;

/**
 * Returns an error of a Vite config with the location in its source.
 *
 * Vite compiles a config and the files that it imports together, and puts declarations at the beginning of the first line of
 * each. The columns in that line, and Rolldown's source lines, contain them.
 *
 * @param root the current folder, to which Rolldown's paths are relative
 */
export function locateInConfig(error: unknown, root: string): unknown {
  if (!(error instanceof Error)) return error;
  const message = stripVTControlCharacters(error.message)
    .replace(COMPILED_CONFIG, "$1")
    .replace(/^Build failed with 1 error:\s*(?:\[[A-Z_]+\] )?/, "")
    .trim();
  const { specifier, config } = NOT_FOUND.exec(message)?.groups ?? {};
  if (specifier && config) return missingImportError(specifier, normalizePath(resolve(root, config)), root);
  const syntax = OF_ROLLDOWN.exec(message)?.groups;
  if (!syntax) {
    const stack = error.stack?.replace(POSITION, (_, file: string, line: string, column: string) => {
      const position = positionInSource(file, Number(line), Number(column));
      return position ? `${file}:${position.line}:${position.column}` : file;
    });
    return Object.assign(new Error(message), { name: error.name, stack, cause: error.cause });
  }
  const file = normalizePath(resolve(root, syntax.file ?? ""));
  const position = positionInSource(file, Number(syntax.line), Number(syntax.column));
  const located = new SyntaxError(`${syntax.message?.replace(/\.?$/, ".")} Correct it.`);
  const loc = position && { file, line: position.line, column: position.column - 1 };
  return Object.assign(located, { stack: undefined, loc });
}

interface Position {
  readonly line: number;
  readonly column: number;
}

/** Returns the position in the source of a file for one in what Vite compiles; `undefined` if it is unknown. */
function positionInSource(file: string, line: number, column: number): Position | undefined {
  const code = readIfExists(file) ?? "";
  // More is inserted, whose lines depend on the version of Vite.
  if (/import\.meta\s*\.\s*resolve/.test(code)) return undefined;
  if (line !== 1 || code.startsWith("#!")) return { line, column };
  return { line, column: Math.max(1, column - declarations(file).length) };
}

/** What Vite inserts. `tests/system/dev-process.test.ts` fails when a version of Vite inserts another text. */
function declarations(file: string): string {
  const values = {
    dirname: resolve(file, ".."),
    filename: file,
    import_meta_url: pathToFileURL(file).href,
  };
  return Object.entries(values)
    .map(([name, value]) => `const __vite_injected_original_${name} = ${JSON.stringify(value)};`)
    .join("");
}

function readIfExists(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
