/**
 * The module customization hooks of `tsweb/register`. Node runs them in a separate thread, from a separate file.
 */
import { existsSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { type InitializeHook, isBuiltin, type LoadHook, type ResolveHook } from "node:module";
import { posix } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { normalizePath, transformWithOxc } from "vite";
import { ModuleCache } from "./module-cache.ts";
import type { ModuleResolver } from "./modules/index.ts";
import { checkModule } from "./rules/index.ts";
import {
  inlineUsingHelper,
  mayHaveUnsupportedUsing,
  RUNTIME_TARGET,
  rejectUnsupportedSyntax,
} from "./runtime-syntax.ts";
import { type Compiled, emitServerCode, mayContainDeclarations, strictSignatures } from "./server-code.ts";
import { CompileError, isInNodeModules, isScript } from "./syntax/index.ts";
import { pathsResolver } from "./tsconfig-paths.ts";

const STYLE_SHEET = /\.(?:css|scss|sass|less|styl|stylus|pcss|postcss)$/;
const EXTENSIONS = [".ts", ".tsx", ".mts", ".js", ".jsx", ".mjs"];

let modules = new ModuleCache(normalizePath(process.cwd()));
let resolvePaths = pathsResolver(modules.root);

/** Receives the project's root, to which the file names in signatures are relative. */
export const initialize: InitializeHook<{ readonly root: string }> = ({ root }) => {
  modules = new ModuleCache(normalizePath(root));
  resolvePaths = pathsResolver(modules.root);
};

/**
 * Resolves what Vite also resolves: the `paths` of tsconfig.json, a path without its extension, or a `.js` path to a
 * TypeScript file.
 */
export const resolve: ResolveHook = async (specifier, context, nextResolve) => {
  const parent = context.parentURL?.startsWith("file:") ? normalizePath(fileURLToPath(context.parentURL)) : undefined;
  const importer = parent && !isInNodeModules(parent) ? parent : undefined;
  const aliased = importer && !isBuiltin(specifier) ? await resolvePaths(specifier, importer) : undefined;
  if (aliased !== undefined) return { url: pathToFileURL(aliased).href, shortCircuit: true };
  try {
    return await nextResolve(specifier, context);
  } catch (error) {
    const file = importer && sourceFile(specifier, importer);
    if (file === undefined) throw error;
    return { url: pathToFileURL(file).href, shortCircuit: true };
  }
};

/** Compiles the modules of the project. Modules of installed packages are left to Node. */
export const load: LoadHook = async (url, context, nextLoad) => {
  if (!url.startsWith("file:")) return nextLoad(url, context);
  const file = normalizePath(fileURLToPath(url));
  if (isInNodeModules(file)) return nextLoad(url, context);
  // The build links a page's style sheets in its document. On the server they have no code.
  if (STYLE_SHEET.test(file)) return { format: "module", source: "export default {};", shortCircuit: true };
  if (!isScript(file)) return nextLoad(url, context);
  const code = await readFile(file, "utf8");
  const isPlain = /\.[cm]?js$/.test(file);
  if (isPlain && !mayContainDeclarations(code) && !mayHaveUnsupportedUsing(code)) return nextLoad(url, context);
  return { format: "module", source: await compile(code, file), shortCircuit: true };
};

async function compile(code: string, file: string): Promise<string> {
  try {
    const compiled = await compileForServer(code, file);
    const result = await transformWithOxc(
      compiled?.code ?? code,
      file,
      {
        lang: oxcLanguageOf(file),
        sourceType: "module",
        target: RUNTIME_TARGET,
        sourcemap: true,
        jsx: { runtime: "automatic", importSource: "tsweb" },
      },
      compiled?.map,
    );
    rejectUnsupportedSyntax(result.code, () => ({ file, code }));
    const map = Buffer.from(JSON.stringify(result.map)).toString("base64");
    return `${inlineUsingHelper(result.code)}\n//# sourceMappingURL=data:application/json;base64,${map}\n`;
  } catch (error) {
    if (!(error instanceof CompileError)) throw error;
    // Of an error, only the message reaches the main thread, so the message includes the location.
    const { line, column } = error.loc;
    throw new Error(`${error.message}\n  at ${error.loc.file}:${line}:${column + 1}\n${error.frame}`);
  }
}

function oxcLanguageOf(file: string): "ts" | "tsx" | "jsx" {
  if (/\.[cm]?ts$/.test(file)) return "ts";
  return file.endsWith(".tsx") ? "tsx" : "jsx";
}

async function compileForServer(code: string, file: string): Promise<Compiled | undefined> {
  if (!mayContainDeclarations(code) && !/\.[jt]sx$/.test(file)) return undefined;
  const facts = modules.readText({ file, code });
  await checkModule(facts, resolver());
  return emitServerCode(facts, await strictSignatures(facts, resolver()), modules.root);
}

function resolver(): ModuleResolver {
  return {
    root: modules.root,
    resolve: async (specifier, importer) =>
      (await resolvePaths(specifier, importer)) ?? sourceFile(specifier, importer),
    read: async (id) => modules.readIfValid(id),
  };
}

/** Returns the file that a relative specifier refers to. Candidates are tried in the order of Vite. */
function sourceFile(specifier: string, importer: string): string | undefined {
  if (!/^\.{0,2}\/|^file:/.test(specifier)) return undefined;
  const path = specifier.startsWith("file:")
    ? normalizePath(fileURLToPath(specifier))
    : posix.resolve(posix.dirname(importer), specifier);
  const typeScript = path.replace(/\.([cm]?)js(x?)$/, ".$1ts$2");
  const candidates = [
    path,
    typeScript,
    ...EXTENSIONS.map((extension) => path + extension),
    ...EXTENSIONS.map((extension) => `${path}/index${extension}`),
  ];
  return candidates.find((candidate) => existsSync(candidate) && statSync(candidate).isFile());
}
