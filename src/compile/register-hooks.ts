/**
 * The module hooks behind `tsweb/register`. They run in a thread of their own, which is why they are a
 * file of their own.
 */
import { existsSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { InitializeHook, LoadHook, ResolveHook } from "node:module";
import { posix } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { normalizePath, transformWithOxc } from "vite";
import { CompileError } from "./errors.ts";
import { checkMarkup } from "./jsx-rules.ts";
import { inNodeModules, isScript } from "./parse.ts";
import { checkReturnedStreams } from "./returned-streams.ts";
import { type Compiled, emitServerSide, mayHoldMarks } from "./server-side.ts";
import { shapesOf } from "./shapes/index.ts";
import { ModuleReader, type World } from "./world.ts";

const STYLE_SHEET = /\.(?:css|scss|sass|less|styl|stylus|pcss|postcss)$/;
const ENDINGS = [".ts", ".tsx", ".mts", ".js", ".jsx", ".mjs"];

let modules = new ModuleReader(normalizePath(process.cwd()));

/** Takes the project's root, which signatures name their files from. */
export const initialize: InitializeHook<{ readonly root: string }> = ({ root }) => {
  modules = new ModuleReader(normalizePath(root));
};

/** Finds what Vite finds too: a module without its ending, or `.js` that is written in TypeScript. */
export const resolve: ResolveHook = async (specifier, context, nextResolve) => {
  try {
    return await nextResolve(specifier, context);
  } catch (error) {
    const parent = context.parentURL?.startsWith("file:") ? fileURLToPath(context.parentURL) : undefined;
    const found = parent && !inNodeModules(parent) ? sourceFile(specifier, normalizePath(parent)) : undefined;
    if (found === undefined) throw error;
    return { url: pathToFileURL(found).href, shortCircuit: true };
  }
};

/** Compiles the modules of the project; those of installed packages are Node's own affair. */
export const load: LoadHook = async (url, context, nextLoad) => {
  if (!url.startsWith("file:")) return nextLoad(url, context);
  const file = normalizePath(fileURLToPath(url));
  if (inNodeModules(file)) return nextLoad(url, context);
  // A page's style is linked in its document; on the server there is nothing of it to run.
  if (STYLE_SHEET.test(file)) return { format: "module", source: "export default {};", shortCircuit: true };
  if (!isScript(file)) return nextLoad(url, context);
  const code = await readFile(file, "utf8");
  const isPlain = /\.[cm]?js$/.test(file);
  if (isPlain && !mayHoldMarks(code)) return nextLoad(url, context);
  return { format: "module", source: await compile(code, file), shortCircuit: true };
};

async function compile(code: string, file: string): Promise<string> {
  try {
    const compiled = await serverSide(code, file);
    const result = await transformWithOxc(
      compiled?.code ?? code,
      file,
      { lang: languageOf(file), sourcemap: true, jsx: { runtime: "automatic", importSource: "tsweb" } },
      compiled?.map,
    );
    const map = Buffer.from(JSON.stringify(result.map)).toString("base64");
    return `${result.code}\n//# sourceMappingURL=data:application/json;base64,${map}\n`;
  } catch (error) {
    if (!(error instanceof CompileError)) throw error;
    // Only the message crosses to the program's own thread, so it says the place as well.
    const { file: at, line, column } = error.loc;
    throw new Error(`${error.message}\n  at ${at}:${line}:${column + 1}\n${error.frame}`);
  }
}

function languageOf(file: string): "ts" | "tsx" | "jsx" {
  if (/\.[cm]?ts$/.test(file)) return "ts";
  return file.endsWith(".tsx") ? "tsx" : "jsx";
}

async function serverSide(code: string, file: string): Promise<Compiled | undefined> {
  if (!mayHoldMarks(code) && !/\.[jt]sx$/.test(file)) return undefined;
  const facts = modules.text({ file, code });
  await checkMarkup(facts, world());
  await checkReturnedStreams(facts, world());
  const { functions } = await shapesOf(facts, world());
  return emitServerSide(facts, functions, modules.root);
}

function world(): World {
  return { modules, resolve: async (specifier, importer) => sourceFile(specifier, importer) };
}

/** Finds the file that a relative specifier means, tried as Vite tries it. */
function sourceFile(specifier: string, importer: string): string | undefined {
  if (!/^\.{0,2}\/|^file:/.test(specifier)) return undefined;
  const path = specifier.startsWith("file:")
    ? normalizePath(fileURLToPath(specifier))
    : posix.resolve(posix.dirname(importer), specifier);
  const written = path.replace(/\.([cm]?)js(x?)$/, ".$1ts$2");
  const candidates = [path, written, ...ENDINGS.map((e) => path + e), ...ENDINGS.map((e) => `${path}/index${e}`)];
  return candidates.find((each) => existsSync(each) && statSync(each).isFile());
}
