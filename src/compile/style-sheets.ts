import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { posix } from "node:path";
import { normalizePath, type ResolvedConfig, type Rolldown } from "vite";
import {
  type FileReference,
  type ModuleResolver,
  relativePath,
  ServerOnlyError,
  serverOnlyFile,
  serverOnlyMessage,
} from "./modules/index.ts";
import { missingImportMessage } from "./rules/index.ts";
import {
  CompileError,
  hasAssetQuery,
  isInNodeModules,
  type SourceFile,
  type SourceRange,
  stripQuery,
} from "./syntax/index.ts";

export const STYLE_SHEET = /\.(?:css|less|sass|scss|styl|stylus|pcss|postcss|sss)$/i;

/** Returns whether a file is a style sheet, by its extension. */
export function isStyleSheet(file: string): boolean {
  return STYLE_SHEET.test(file);
}

/** A path in the text of a style sheet that names a server-only file, in `url(…)`, `@import`, `composes … from` and the like. */
const SERVER_ONLY_PATH = /[^\s"'`(),;{}<>|]*\.server(?:[./][^\s"'`(),;{}<>|]*)?/gi;

/**
 * Checks a style sheet as Vite has loaded it.
 *
 * @param id its module id
 * @throws CompileError at the first mistake
 */
export async function checkStyleSheetModule(id: string, code: string, resolver: ModuleResolver): Promise<void> {
  const source = { file: normalizePath(stripQuery(id)), code };
  // Other texts are made by plugins: a style sheet of UnoCSS without a file, and the module of a file with `?raw`.
  if (existsSync(source.file) && !hasAssetQuery(id)) checkStyleSheetSyntax(source);
  await checkStyleSheet(source, resolver);
}

/**
 * Checks the text of a style sheet for references to missing files, and to server-only files. Every reference to a
 * server-only file counts, whatever contains it:
 * a text that looks like a path is one if there is such a file. A selector such as `.db.server.active` is none.
 *
 * @throws CompileError at the first reference
 */
async function checkStyleSheet(source: SourceFile, resolver: ModuleResolver): Promise<void> {
  const text = withoutComments(source);
  await checkStyleSheetFiles({ ...source, code: text }, resolver);
  for (const { 0: specifier, index } of text.matchAll(SERVER_ONLY_PATH)) {
    const path = stripQuery(specifier);
    for (const candidate of [path, `./${path}`]) {
      const id = await resolver.resolve(candidate, source.file);
      const file = id && serverOnlyFile({ specifier: candidate, importer: source.file, id }, resolver.root);
      if (!file) continue;
      const use = `cannot be referenced in a style sheet as "${specifier}"`;
      throw new CompileError(serverOnlyMessage(relativePath(file, resolver.root), use), source, {
        start: index,
        end: index + specifier.length,
      });
    }
  }
}

/** Blanks comments out and keeps the offsets. Only preprocessors have comments from `//` to the end of a line. */
function withoutComments({ file, code }: SourceFile): string {
  const blank = (comment: string) => comment.replace(/[^\n]/g, " ");
  const text = code.replace(/\/\*.*?(?:\*\/|$)/gs, blank);
  return /\.css$/i.test(file) ? text : text.replace(/(?<=^|\s)\/\/.*$/gm, blank);
}

/**
 * Rejects server-only files in all imports of style sheets: `@import`, `@use`, `composes … from`, in a style sheet or
 * in one that it imports. Vite resolves these with resolvers that it creates by `createResolver`, not with plugins, and
 * reads the files by itself.
 */
export function guardStyleSheetImports(config: ResolvedConfig): void {
  const root = normalizePath(config.root);
  const create = config.createResolver.bind(config);
  const createResolver: ResolvedConfig["createResolver"] = (options) => {
    const resolve = create(options);
    return async (specifier, importer, aliasOnly, ssr) => {
      const id = await resolve(specifier, importer, aliasOnly, ssr);
      const guard = new ImportGuard(root, (path, from) => resolve(path, from, aliasOnly, ssr));
      if (id !== undefined) await guard.check({ specifier, importer, id });
      return id;
    };
  };
  Object.assign(config, { createResolver }); // Vite calls it on the resolved configuration, also when it is replaced
}

class ImportGuard {
  private readonly root: string;
  private readonly resolve: ModuleResolver["resolve"];
  private readonly checked = new Set<string>();

  constructor(root: string, resolve: ModuleResolver["resolve"]) {
    this.root = root;
    this.resolve = resolve;
  }

  /** @throws ServerOnlyError if the file is server-only, or a style sheet that refers to such a file */
  async check(reference: FileReference): Promise<void> {
    const { specifier, importer, id } = reference;
    const { root, resolve } = this;
    const file = serverOnlyFile(reference, root);
    if (file) {
      const use = `cannot be referenced as "${specifier}" in ${importer ? relativePath(importer, root) : "the configuration"}`;
      throw new ServerOnlyError(serverOnlyMessage(relativePath(file, root), use));
    }
    // An imported style sheet does not pass through plugins.
    const sheet = normalizePath(stripQuery(id));
    if (!isStyleSheet(sheet) || isInNodeModules(sheet) || this.checked.has(sheet)) return;
    this.checked.add(sheet);
    const code = await readFile(sheet, "utf8").catch(() => ""); // Vite reports that it is missing
    checkStyleSheetSyntax({ file: sheet, code });
    await checkStyleSheet({ file: sheet, code }, { root, resolve, read: async () => undefined });
    await this.checkComposed(sheet, code);
  }

  /** Checks `from "…"` of CSS modules here: an error while Vite loads these would never settle the transformation. */
  private async checkComposed(sheet: string, code: string): Promise<void> {
    for (const [, specifier = ""] of code.matchAll(/\sfrom\s+["']([^"']+)["']/g)) {
      const id = await this.resolve(specifier, sheet);
      if (id !== undefined) await this.check({ specifier, importer: sheet, id });
    }
  }
}

/**
 * Resolves the import of a style sheet in a module for the server.
 *
 * @throws ServerOnlyError for a style sheet that is server-only: pages link it for the browser
 */
export async function resolveStyleSheet(
  context: Pick<Rolldown.PluginContext, "resolve">,
  { source, importer, options }: StyleSheetImport,
  root: string,
): Promise<Rolldown.ResolveIdResult> {
  const resolved = await context.resolve(source, importer, { ...options, skipSelf: true });
  const file = resolved && serverOnlyFile({ specifier: source, importer, id: resolved.id }, root);
  if (!file) return resolved;
  const use = "cannot be a style sheet, which pages link for the browser";
  throw new ServerOnlyError(`${serverOnlyMessage(relativePath(file, root), use)} Imported by ${importer}.`);
}

/** An import, as Rolldown passes it to `resolveId`. */
interface StyleSheetImport {
  readonly source: string;
  readonly importer: string | undefined;
  readonly options: Parameters<Rolldown.PluginContext["resolve"]>[2];
}

/** A relative path in `url(…)`, or after `@import`. */
const RELATIVE_PATH = /(?:\burl\(\s*|@import\s+)(["']?)(?<path>\.{1,2}\/[^"'()\s\\]+)\1/gi;

/**
 * Checks that the files exist to which a style sheet in CSS refers by relative paths. Vite leaves a path without a file in
 * the built style sheet, where it leads to another folder.
 *
 * Errs towards silence: it does not check Sass and Less, whose paths are relative to several folders, and can be computed.
 *
 * @param source the style sheet, its comments blanked out
 * @throws CompileError at the first path without a file
 */
export async function checkStyleSheetFiles(source: SourceFile, resolver: ModuleResolver): Promise<void> {
  if (!/\.css$/i.test(source.file)) return;
  for (const { 0: text, index, groups } of source.code.matchAll(RELATIVE_PATH)) {
    const path = groups?.path ?? "";
    if (existsSync(posix.resolve(posix.dirname(source.file), decodePath(stripQuery(path))))) continue;
    if (await resolver.resolve(path, source.file)) continue; // by a plugin
    const start = index + text.indexOf(path);
    const message = missingImportMessage(path, source.file, resolver.root);
    throw new CompileError(message, source, { start, end: start + path.length });
  }
}

function decodePath(path: string): string {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

/**
 * The tokens of CSS that contain or are brackets: comments, strings, `url(…)` without quotes, escapes, brackets. A comment
 * without an end extends to the end of the file, a string to the end of its line.
 *
 * @see https://www.w3.org/TR/css-syntax-3/#tokenization
 */
const TOKENS =
  /\/\*(?:[\s\S]*?\*\/|[\s\S]*)|"(?:\\(?:\r\n|[\s\S])|[^"\\\r\n\f])*"?|'(?:\\(?:\r\n|[\s\S])|[^'\\\r\n\f])*'?|(?<![\w\u0080-\uffff-])url\(\s*(?!["'\s])(?:\\[\s\S]|[^)\\])*\)?|\\[\s\S]|[{}()[\]]/gi;

const CLOSING: Readonly<Record<string, string>> = { "{": "}", "(": ")", "[": "]" };

/** A line that starts with a comment of Sass: the project may have a PostCSS parser that accepts it. */
const LINE_COMMENT = /^[^\S\n]*\/\//m;

/**
 * Checks that blocks, comments and strings of a style sheet in CSS are closed. Browsers, and Vite in development, accept
 * these mistakes silently, and ignore the rules after them.
 *
 * Errs towards silence: other mistakes, and style sheets with comments that start with two slashes, are accepted.
 *
 * @throws CompileError at the outermost block that is not closed, or at the `}`, the comment or the string
 */
export function checkStyleSheetSyntax(source: SourceFile): void {
  const { file, code } = source;
  if (!/\.css$/i.test(file) || LINE_COMMENT.test(code)) return;
  const open: { readonly bracket: string; readonly start: number }[] = [];
  for (const { 0: token, index: start } of code.matchAll(TOKENS)) {
    const unclosed = unclosedMessage(token);
    if (unclosed !== undefined) throw new CompileError(unclosed, source, firstLine(token, start));
    const top = open.at(-1);
    if (CLOSING[token] !== undefined) open.push({ bracket: token, start });
    else if (top && token === CLOSING[top.bracket]) open.pop();
    else if (token === "}" && !top) throw new CompileError(STRAY, source, { start, end: start + 1 });
    else if (token === "}") break; // a parenthesis in this block is not closed
  }
  // The innermost of `a { color: rgb(0 0 0; }`, the outermost of `@media print { a { }`.
  const found = open.findLast(({ bracket }) => bracket !== "{") ?? open[0];
  if (found)
    throw new CompileError(bracketMessage(found.bracket), source, { start: found.start, end: found.start + 1 });
}

const STRAY = "This } closes nothing, because all blocks above it are closed. Remove it, or add the missing {.";

/** Returns what a comment, a string or a `url(` lacks; `undefined` for one that is complete, and for other tokens. */
function unclosedMessage(token: string): string | undefined {
  if (token.startsWith("/*")) {
    const isClosed = token.length >= 4 && token.endsWith("*/");
    return isClosed ? undefined : "This comment is not closed, so browsers ignore all that follows. Add */ at its end.";
  }
  if (/^["']/.test(token)) {
    const [quote = ""] = token;
    const isClosed = /^(["'])(?:\\[\s\S]|[^\\])*\1$/.test(token);
    return isClosed ? undefined : `This string is not closed in its line. Add ${quote} at its end.`;
  }
  if (!/^url\(/i.test(token) || /^url\((?:\\[\s\S]|[^)\\])*\)$/i.test(token)) return undefined;
  return "This url( is not closed. Add ) at its end.";
}

function bracketMessage(bracket: string): string {
  if (bracket === "{")
    return "This { is not closed, so the rules below belong to its block. Add } at the end of the block, or of one inside it.";
  return `This ${bracket} is not closed. Add ${CLOSING[bracket]} at its end.`;
}

/** Returns the range of a token in its first line. */
function firstLine(token: string, start: number): SourceRange {
  return { start, end: start + token.split("\n", 1).join("").length };
}
