import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { normalizePath, type ResolvedConfig, type Rolldown } from "vite";
import {
  type FileReference,
  type ModuleResolver,
  relativePath,
  ServerOnlyError,
  serverOnlyFile,
  serverOnlyMessage,
} from "./modules/index.ts";
import { checkStyleSheetFiles } from "./style-sheet-files.ts";
import { checkStyleSheetSyntax } from "./style-sheet-syntax.ts";
import { CompileError, hasAssetQuery, isInNodeModules, type SourceFile, stripQuery } from "./syntax/index.ts";

const STYLE_SHEET = /\.(?:css|less|sass|scss|styl|stylus|pcss|postcss|sss)$/i;

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
