import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { normalizePath } from "vite";
import { missingImportError } from "../../compile/index.ts";

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
