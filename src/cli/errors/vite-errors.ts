import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { missingExportError, missingImportError, ProjectError } from "../../compile/index.ts";
import { readIfExists } from "../project/index.ts";

/**
 * Returns an error of Vite in the words of tsweb, with its location as Vite's errors have it. Builds and the development
 * server show the same words.
 *
 * @returns `undefined` for an error that this function does not know
 */
export function explainViteError(error: ViteError, root: string): Error | undefined {
  return (
    explainMissingImport(error, root) ??
    explainMissingExport(error, root) ??
    explainTsconfigError(error, root) ??
    explainPackageError(error, root)
  );
}

/** How Vite reports a missing file or package: its runner, twice, its build, and its transformation of browser modules. */
const MESSAGES: readonly RegExp[] = [
  /^Failed to load url (?<specifier>\S+) .* in (?<importer>.+)\. Does the file exist\?/,
  /^Cannot find module '(?<specifier>.+)' imported from '(?<importer>.+)'$/,
  /^\[vite\]: Rolldown failed to resolve import "(?<specifier>.+?)" from "(?<importer>.+?)"/,
  /^Failed to resolve import "(?<specifier>.+?)" from "(?<importer>.+?)"\. Does the file exist\?/,
];

const MISSING_IN_STYLE_SHEET = /^\[postcss\] ENOENT: no such file or directory, open '(?<specifier>[^'/.][^']*)'$/;

/** What is read of an error of Vite: an `Error`, or what Vite sends to pages of it. */
export interface ViteError {
  readonly message: string;
  readonly code?: unknown;
  readonly id?: unknown;
  /** Rolldown's name for the specifier of an import. */
  readonly exporter?: unknown;
}

/**
 * Returns the error of an import of a missing file or package in the words of tsweb: what is missing, where, how to fix it.
 *
 * @returns `undefined` for another error
 */
function explainMissingImport(error: ViteError, root: string): ReturnType<typeof missingImportError> | undefined {
  const { specifier, importer } = rolldownImport(error) ?? messageImport(error) ?? styleSheetImport(error) ?? {};
  return specifier && importer ? missingImportError(specifier, resolve(root, importer), root) : undefined;
}

interface MissingImport {
  readonly specifier?: string | undefined;
  readonly importer?: string | undefined;
}

function rolldownImport({ code, exporter, id }: ViteError): MissingImport | undefined {
  if (code !== "UNRESOLVED_IMPORT" || typeof exporter !== "string" || typeof id !== "string") return undefined;
  return { specifier: exporter, importer: id };
}

function messageImport(error: ViteError): MissingImport | undefined {
  const message = stripVTControlCharacters(error.message);
  return MESSAGES.map((pattern) => pattern.exec(message)?.groups).find((groups) => groups !== undefined);
}

/** Returns the missing package of an `@import` in a style sheet: PostCSS tries to open a file of this name. */
function styleSheetImport({ message, id }: ViteError): MissingImport | undefined {
  const specifier = MISSING_IN_STYLE_SHEET.exec(stripVTControlCharacters(message))?.groups?.specifier;
  return specifier !== undefined && typeof id === "string" ? { specifier, importer: id.split("?")[0] } : undefined;
}

/** How the runner of Vite reports a name that a package does not export. Often no frame of the stack is in the importer. */
const MISSING_EXPORT =
  /^\[vite\] The requested module '(?<specifier>.+)' does not provide an export named '(?<name>.+)'$/;

function explainMissingExport({ message }: ViteError, root: string): ReturnType<typeof missingExportError> | undefined {
  const { specifier, name } = MISSING_EXPORT.exec(message)?.groups ?? {};
  return specifier && name ? missingExportError(specifier, name, root) : undefined;
}

const NOT_FOUND = /Tsconfig not found (?<base>\S+)/;

const INVALID_JSON =
  /JSONError \{ path: "(?<file>.+?)", message: "(?<problem>.+?)", line: (?<line>\d+), column: (?<column>\d+) \}/;

/**
 * Returns the error about a tsconfig.json that Vite cannot read, with its fix: one that is not valid JSON, or extends a file
 * that does not exist. `undefined` for another error.
 */
function explainTsconfigError(error: ViteError, root: string): ProjectError | undefined {
  const message = stripVTControlCharacters(error.message);
  const { file, problem, line, column } = INVALID_JSON.exec(message)?.groups ?? {};
  if (file && problem) {
    const id = resolve(root, file);
    const loc = { file: id, line: Number(line), column: Math.max(0, Number(column) - 1) };
    const text = problem.replaceAll('\\"', '"').replace(/ at line \d+ column \d+$/, "");
    return Object.assign(new ProjectError(`${problemSentence(text)} Correct it.`), { id, loc });
  }
  const { base } = NOT_FOUND.exec(message)?.groups ?? {};
  return base ? missingBaseError(base, root) : undefined;
}

/** Returns the problem of a file; Rolldown names the types of JSON as Rust does. */
function problemSentence(problem: string): string {
  if (problem === "expected ident") return "This file is not valid JSON: `true`, `false` or `null` is misspelled here.";
  if (!/^invalid (?:type|length)/.test(problem)) return `This file is not valid JSON: ${problem}.`;
  const [, received, expected] = /^invalid type: (.+), expected (.+)$/.exec(problem) ?? [];
  if (received === undefined || expected === undefined) return "This value has the wrong type.";
  const names: Readonly<Record<string, string>> = { "a map": "an object", "a sequence": "a list" };
  return `This value has the wrong type: it is ${received}, and must be ${names[expected] ?? expected}.`;
}

function missingBaseError(base: string, root: string): ProjectError {
  const [, name] = /^((?:@[^/]+\/)?[^./][^/]*)/.exec(base) ?? [];
  const fix = name
    ? `Install its package (npm install --save-dev ${name}), or correct "extends".`
    : 'Correct "extends".';
  const error = new ProjectError(`A tsconfig.json extends "${base}", which does not exist. ${fix}`);
  const id = resolve(root, "tsconfig.json");
  const lines = existsSync(id) ? readFileSync(id, "utf8").split("\n") : [];
  const written = [`"${base}"`, `"./${base}"`]; // Rolldown leaves out the `./`
  const columns = lines.map((text) => Math.max(...written.map((each) => text.indexOf(each))));
  const index = columns.findIndex((column) => column >= 0); // it may be in another tsconfig.json
  if (index < 0) return error;
  return Object.assign(error, { id, loc: { file: id, line: index + 1, column: columns[index] ?? 0 } });
}

/**
 * Returns the error about a package.json of the project that is not valid JSON, with its location. Vite's error is that of
 * `JSON.parse`, which does not name the file; so the file is parsed again, and the errors are compared.
 *
 * @returns `undefined` for another error
 */
function explainPackageError(error: ViteError, root: string): ProjectError | undefined {
  if (!/ in JSON| JSON input|not valid JSON/.test(error.message)) return undefined;
  const file = join(root, "package.json");
  const text = readIfExists(file)?.replace(/^\uFEFF/, "");
  const problem = text === undefined ? undefined : jsonProblem(text);
  if (text === undefined || problem === undefined || !error.message.includes(problem)) return undefined;
  const { position, reason } = /^(?<reason>.*?)(?: in JSON)? at position (?<position>\d+)/.exec(problem)?.groups ?? {};
  const before = text.slice(0, position === undefined ? text.trimEnd().length : Number(position)).split("\n");
  const loc = { file, line: before.length, column: before.at(-1)?.length ?? 0 };
  return Object.assign(new ProjectError(`package.json is not valid JSON: ${reason ?? problem}. Correct it.`), {
    id: file,
    loc,
  });
}

/** Returns the message with which a text cannot be parsed; `undefined` if it is valid JSON. */
function jsonProblem(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
