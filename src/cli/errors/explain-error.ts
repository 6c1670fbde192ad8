import { posix } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { normalizePath } from "vite";
import { browserGlobalAdvice, dateMethodAdvice, missingImportAdvice, relativeUrlAdvice } from "../../text/index.ts";
import { readIfExists, relativeFile, sourceOfVariable } from "../project/index.ts";
import { applicationFrames, importCycleAdvice, type SourcePosition } from "./stack-frames.ts";
import { explainViteError } from "./vite-errors.ts";

/** An error, with its location in the application's own files. */
export interface ExplainedError {
  readonly name: string;
  readonly message: string;
  /** The stack without frames of tsweb, Vite and Node, and without those of packages unless there are no others. */
  readonly stack: string;
  /** File, line and column, such as `src/pages.server.tsx:3:7`; empty when unknown. */
  readonly location: string;
  /** The source lines around the location; empty when unknown. */
  readonly frame: string;
}

/** What {@link explainError} reads of an error. Errors of Vite and of the compile step have a location and a code frame. */
export interface ThrownError {
  readonly name?: string;
  readonly message: string;
  readonly stack?: string | undefined;
  readonly cause?: unknown;
  readonly id?: unknown;
  readonly loc?: unknown;
  readonly frame?: unknown;
}

/** The maximum number of causes that are shown. A cause may refer back to its error. */
const MAX_CAUSES = 4;

/**
 * Finds the location of an error in the application's own files, and its source lines. If the error has none, but its
 * cause, it is that of the cause.
 *
 * @param root the application's folder, which is removed from paths
 */
export function explainError(error: unknown, root: string): ExplainedError {
  const [first, ...others] = causesOf(error).map((each) => explainOne(each, root));
  if (!first) throw new Error("An error is the first in its list of causes.");
  // An error and its cause may be the same mistake in the words of tsweb.
  const causes = others.filter((cause, index) => heading(cause) !== heading(others[index - 1] ?? first));
  const located = [first, ...others].find(({ location }) => location !== "");
  return {
    name: first.name,
    message: [first.message, ...causes.map((cause) => `Caused by ${heading(cause)}`)].join("\n"),
    stack: [first.stack, ...others.map(({ stack }) => `Caused by ${stack}`)].join("\n"),
    location: located?.location ?? "",
    frame: located?.frame ?? "",
  };
}

/** Returns the name and the message of an error, in one line if the message is one. */
export function heading({ name, message }: Pick<ExplainedError, "name" | "message">): string {
  return name === "Error" || name === "" ? `Error: ${message}` : `${name}: ${message}`;
}

/** Returns an error and its causes. */
function causesOf(error: unknown): readonly unknown[] {
  const errors: unknown[] = [error];
  for (let each = error; isThrownError(each) && errors.length <= MAX_CAUSES; ) {
    each = each.cause;
    if (each === undefined || each === null || errors.includes(each)) break;
    errors.push(each);
  }
  return errors;
}

function explainOne(thrown: unknown, root: string): ExplainedError {
  if (!isThrownError(thrown))
    return { name: "Thrown value", message: String(thrown), stack: "", location: "", frame: "" };
  const environmentError = environmentErrorText(thrown, root);
  if (environmentError !== undefined) {
    return { name: "ConfigError", message: environmentError, stack: "", location: "", frame: "" }; // it is not in code
  }
  const error = explainViteError(thrown, root) ?? thrown;
  const name = error.name ?? "Error";
  // Vite colours some of its messages for a terminal.
  const stack = stripVTControlCharacters(error.stack ?? "");
  const { frames, position: thrownAt } = applicationFrames(stack, root);
  const position = locationOf(error) ?? thrownAt;
  const source = position
    ? readIfExists(posix.normalize(position.file))?.split("\n").slice(0, position.line)
    : undefined;
  const advice = [
    browserGlobalAdvice(thrown),
    dateMethodAdvice(thrown),
    missingImportAdvice(thrown),
    relativeUrlAdvice(thrown),
    importCycleAdvice(thrown, frames, root),
    signedOutAdvice(thrown, source ?? []),
    hookAdvice(thrown, source?.at(-1) ?? ""),
    frozenValueAdvice(thrown, source ?? []),
  ];
  const text = withoutCompiledNames(stripVTControlCharacters(error.message));
  const message = [withoutRoot(root, text), ...advice].filter((line) => line !== "").join("\n");
  return {
    name,
    message,
    stack: withoutRoot(root, [heading({ name, message }), ...frames].join("\n")),
    location: position ? formatPosition(position, root) : "",
    frame: frameOf(error, position) ?? (position && readFrame(position)) ?? "",
  };
}

/** Returns whether a value has what the development server reads of an error. */
export function isThrownError(value: unknown): value is ThrownError {
  return typeof value === "object" && value !== null && "message" in value && typeof value.message === "string";
}

function withoutRoot(root: string, text: string): string {
  return text.replaceAll(`${root}/`, "").replaceAll("file://", "");
}

/** Returns a position as editors read it, with a file relative to the root. */
function formatPosition({ file, line, column }: SourcePosition, root: string): string {
  return `${relativeFile(root, file)}:${line}:${column}`;
}

/**
 * Returns the code frame of an error; `undefined` if it has none, or one of compiled code, which the developer has not
 * written.
 */
function frameOf({ frame }: ThrownError, position: SourcePosition | undefined): string | undefined {
  if (typeof frame !== "string" || frame === "") return undefined;
  const text = stripVTControlCharacters(frame);
  const lines = position && readIfExists(position.file)?.split("\n");
  const isOfSource = [...text.matchAll(/^>?\s*(\d+)\s*\|(.*)$/gm)].every(
    ([, number, code = ""]) => lines === undefined || isShownAs(lines[Number(number) - 1]?.trim(), code.trim()),
  );
  return isOfSource ? text : undefined;
}

/** Returns whether a frame shows a line: as it is, or with a `*` for each character of a secret. */
function isShownAs(line: string | undefined, shown: string): boolean {
  const visible = [...shown.matchAll(/[^*]/g)];
  return line?.length === shown.length && visible.every(({ 0: char, index }) => char === line[index]);
}

/** Returns the location of an error of Vite or the compile step. Both count columns from 0; stacks and editors from 1. */
function locationOf({ id, loc }: ThrownError): SourcePosition | undefined {
  if (!isLocation(loc)) return undefined;
  const file = loc.file ?? (typeof id === "string" ? id : undefined); // Vite leaves it out for virtual modules
  if (file === undefined || file.includes("\0")) return undefined;
  return { file: normalizePath(file.replace(/[?#].*$/s, "")), line: loc.line, column: loc.column + 1 };
}

function isLocation(loc: unknown): loc is { readonly file?: string; readonly line: number; readonly column: number } {
  if (typeof loc !== "object" || loc === null || !("line" in loc) || !("column" in loc)) return false;
  return typeof loc.line === "number" && typeof loc.column === "number";
}

/** The number of source lines before and after the position. */
const FRAME_LINES = 3;

/** Returns the source lines around a position; `undefined` if the file does not exist, such as one of a source map. */
function readFrame({ file, line, column }: SourcePosition): string | undefined {
  return readIfExists(posix.normalize(file))
    ?.split("\n")
    .map((source, index) => ({ source, number: index + 1 }))
    .filter(({ number }) => Math.abs(number - line) <= FRAME_LINES)
    .flatMap(({ source, number }) => {
      const row = `${number === line ? ">" : " "} ${String(number).padStart(4)} | ${source}`;
      return number === line ? [row, `       | ${" ".repeat(Math.max(0, column - 1))}^`] : [row];
    })
    .join("\n");
}

/** A call of an import, as Vite compiles it for the server: `(0, __vite_ssr_import_0__.sign)(…)`. V8 adds a space. */
const CALLED_IMPORT = /\(0 ?, ?__vite_ssr_import_\d+__\.(?<name>[\w$]+(?:\.[\w$]+)*)\)/g;

/** A module of which the compiled code reads a member: an import, or the module itself. */
const MODULE = /\b__vite_ssr_(?:import_\d+|exports)__\./g;

/** Returns a message with the names that the source has, in place of those that Vite writes into its compiled code. */
export function withoutCompiledNames(message: string): string {
  return message
    .replace(CALLED_IMPORT, "$<name>")
    .replace(MODULE, "")
    .replace(/\b__vite_ssr_import_meta__\b/g, "import.meta");
}

/** A read of the component that is rendered, when there is none: `__H` is a field of Preact. */
const NO_COMPONENT = /^Cannot read properties of (?:null|undefined) \(reading '(?<field>__H|context)'\)/;

/**
 * Returns how to use a hook if an error of the server is the call of one where no component is rendered, such as in the
 * function of a page. Otherwise an empty string.
 *
 * @param line the source line of the error; empty if unknown
 */
export function hookAdvice(error: unknown, line: string): string {
  if (!(error instanceof TypeError)) return "";
  const field = NO_COMPONENT.exec(error.message)?.groups?.field;
  // Other objects have a `context`, too.
  if (field === undefined || (field === "context" && !/[\\/]preact[\\/]hooks[\\/]/.test(error.stack ?? ""))) return "";
  const hook = /\b(?<name>use[A-Z]\w*)\s*(?:<.*>)?\(/.exec(line)?.groups?.name ?? "A hook";
  return (
    `${hook} was called where no component is rendered. Pages cannot use hooks: their functions run on the server, once ` +
    "for each request. Move this part into a view, which can use hooks, and render the view in the page."
  );
}

const ADVICE =
  "Nobody is signed in, so session.user() returned null. Write `session.require()` in its place: it returns the user, " +
  "and responds with 401 to others.";

/** A read of a property of null: "Cannot read properties of null (reading 'sub')", or the same in a pattern. */
const NULL_READ = /^Cannot (?:read properties of null|destructure property .* as it is null)/;

/**
 * Returns what to write in place of `session.user()` if an error of the server is a read of a property of its result, and
 * nobody is signed in. Otherwise an empty string.
 *
 * @param lines the lines of the module, up to that of the error
 */
export function signedOutAdvice(error: unknown, lines: readonly string[]): string {
  if (!(error instanceof TypeError) || !NULL_READ.test(error.message)) return "";
  const line = lines.at(-1) ?? "";
  const property = /\(reading '(?<name>[^']+)'\)/.exec(error.message)?.groups?.name ?? "";
  if (property === "") return /\}\s*=\s*session\.user\(\)/.test(line) ? ADVICE : "";
  const read = new RegExp(
    `(?<object>[\\w$]+|\\bsession\\.user\\(\\))!?(?:\\s+as\\s[^()]*)?\\)?\\.${escaped(property)}\\b`,
  );
  const object = read.exec(line)?.groups?.object;
  if (object === undefined) return "";
  if (object === "session.user()") return ADVICE;
  const declaration = new RegExp(`\\b(?:const|let|var)\\s+${escaped(object)}\\b.*=\\s*(?<value>.*)`);
  const value = lines.findLast((each) => declaration.test(each));
  return /=\s*\(?session\.user\(\)!?(?:\s+as\s[^()=]*)?\)?\s*;?\s*$/.test(value ?? "") ? ADVICE : "";
}

/** A change of a frozen object, in the words of Chromium, Firefox and Safari. */
const FROZEN = /read.?only|not extensible|^Cannot delete property|can't be deleted|^Unable to delete property/;

/**
 * Returns what to write in place of a change of the value of a live query, which is frozen in development. Otherwise an empty string.
 *
 * @param lines the lines of the module, up to that of the error
 */
export function frozenValueAdvice({ name, message }: ThrownError, lines: readonly string[]): string {
  if (name !== "TypeError" || !FROZEN.test(message) || !lines.some((line) => /\blive\(|\.value\b/.test(line)))
    return "";
  return (
    "If it is in the value of a live query, do not change it: all components that show the query share it, so it is frozen in " +
    "development. Copy it, as in `[...list.value].sort()`, or show a change with `optimistic(list, (copy) => …, () => …)`."
  );
}

function escaped(name: string): string {
  return name.replace(/[^\w]/g, "\\$&");
}

/** The fields of a `ConfigError`. It may come from another copy of tsweb. */
interface EnvironmentError {
  readonly problems: readonly { readonly variable: string; readonly problem: string; readonly fix: string }[];
}

/**
 * Returns the message of a `ConfigError` with where each variable is set: in a file of variables or in the environment.
 * It contains no value besides those in the problems. Returns `undefined` for any other error.
 *
 * @param root the application's folder
 */
export function environmentErrorText(error: unknown, root: string): string | undefined {
  if (!isEnvironmentError(error)) return undefined;
  return error.problems
    .map(({ variable, problem, fix }) => {
      const source = sourceOfVariable(variable, root, process.env);
      const location = source === undefined ? "" : `\n  ${variable} is set in ${source}.`;
      return `${variable} ${problem}\n  ${fix}${location}`;
    })
    .join("\n");
}

function isEnvironmentError(error: unknown): error is EnvironmentError {
  return error instanceof Error && error.name === "ConfigError" && "problems" in error && Array.isArray(error.problems);
}
