import { type ESTree, parseAst } from "vite";
import { CompileError, type Source } from "./errors.ts";

const LANGUAGES = {
  ts: "ts",
  mts: "ts",
  cts: "ts",
  tsx: "tsx",
  js: "jsx",
  mjs: "jsx",
  cjs: "jsx",
  jsx: "jsx",
} as const;

const SERVER_MODULE = /\.server\.(?:[cm]?[jt]s|[jt]sx)$/i;

/**
 * Answers whether a file is a server module: one whose text the browser must never see. Errs towards
 * yes: case does not count, since on some file systems `A.SERVER.TS` is `a.server.ts`. Packages under
 * `node_modules` are never compiled, so theirs are not.
 */
export function isServerModule(file: string): boolean {
  return SERVER_MODULE.test(file) && !inNodeModules(file);
}

/** Answers whether a file belongs to an installed package. */
export function inNodeModules(file: string): boolean {
  return /[\\/]node_modules[\\/]/.test(file);
}

/** Removes what follows the path of a module's id: `?query` and `#hash`. */
export function fileOf(id: string): string {
  return id.replace(/[?#].*$/s, "");
}

/** Answers whether an id asks for something made of a file, its text or address say, and not for the module in it. */
export function isDerived(id: string): boolean {
  return /[?&](?:raw|url|inline|no-inline|init|worker|sharedworker)(?:[&=#]|$)/.test(id);
}

/** Answers whether the compile step reads this file: TypeScript or JavaScript, by its ending. */
export function isScript(file: string): boolean {
  return languageOf(file) !== undefined;
}

function languageOf(file: string): (typeof LANGUAGES)[keyof typeof LANGUAGES] | undefined {
  const ending = file.slice(file.lastIndexOf(".") + 1).toLowerCase();
  return Object.hasOwn(LANGUAGES, ending) ? LANGUAGES[ending as keyof typeof LANGUAGES] : undefined; // own key, just asked
}

/**
 * Parses a module, its types and parentheses included.
 *
 * @throws CompileError when the text is not a module of its language
 */
export function parse(source: Source): ESTree.Program {
  const lang = languageOf(source.file) ?? "tsx";
  try {
    return parseAst(source.code, { lang, sourceType: "module", preserveParens: true }, source.file);
  } catch (error) {
    throw asCompileError(error, source);
  }
}

function asCompileError(error: unknown, source: Source): CompileError {
  const at = typeof error === "object" && error !== null && "pos" in error ? Number(error.pos) : 0;
  const said = error instanceof Error ? error.message : String(error);
  // Only the parser's first sentence: the frame is drawn below, and the rest repeats it.
  const sentence = said.split("\n").find((line) => line !== "" && !line.startsWith("Parse failed")) ?? said;
  const offset = Number.isFinite(at) ? at : 0;
  return new CompileError(sentence.trim(), source, { start: offset, end: offset + 1 });
}
