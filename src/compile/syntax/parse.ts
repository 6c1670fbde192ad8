import { type ESTree, parseAst } from "vite";
import { CompileError, type SourceFile } from "./compile-error.ts";

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
 * Returns whether a file is a server module, whose text must never reach a browser. Errs towards yes:
 * case is ignored, because on case-insensitive file systems `A.SERVER.TS` opens `a.server.ts`. Files under
 * `node_modules` are never compiled, so they are not server modules.
 */
export function isServerModule(file: string): boolean {
  return SERVER_MODULE.test(file) && !isInNodeModules(file);
}

/** Returns whether a file belongs to an installed package. */
export function isInNodeModules(file: string): boolean {
  return /[\\/]node_modules[\\/]/.test(file);
}

/** Removes `?query` and `#hash` from a module id. */
export function stripQuery(id: string): string {
  return id.replace(/[?#].*$/s, "");
}

/** Returns whether an id has one of Vite's queries that import a file as text, URL or worker instead of as a module. */
export function hasAssetQuery(id: string): boolean {
  return /[?&](?:raw|url|inline|no-inline|init|worker|sharedworker)(?:[&=#]|$)/.test(id);
}

/** Returns whether a file is TypeScript or JavaScript, by its extension. */
export function isScript(file: string): boolean {
  return languageOf(file) !== undefined;
}

function languageOf(file: string): (typeof LANGUAGES)[keyof typeof LANGUAGES] | undefined {
  const extension = file.slice(file.lastIndexOf(".") + 1).toLowerCase();
  return Object.hasOwn(LANGUAGES, extension) ? LANGUAGES[extension as keyof typeof LANGUAGES] : undefined; // an own key: checked
}

/**
 * Parses a module, with its types and parentheses.
 *
 * @throws CompileError on a syntax error
 */
export function parse(source: SourceFile): ESTree.Program {
  const lang = languageOf(source.file) ?? "tsx";
  try {
    return parseAst(source.code, { lang, sourceType: "module", preserveParens: true }, source.file);
  } catch (error) {
    throw asCompileError(error, source);
  }
}

function asCompileError(error: unknown, source: SourceFile): CompileError {
  const position = typeof error === "object" && error !== null && "pos" in error ? Number(error.pos) : 0;
  const text = error instanceof Error ? error.message : String(error);
  // The parser's message continues with a code frame. CompileError adds its own.
  const message = text.split("\n").find((line) => line !== "" && !line.startsWith("Parse failed")) ?? text;
  const offset = Number.isFinite(position) ? position : 0;
  return new CompileError(message.trim(), source, { start: offset, end: offset + 1 });
}
