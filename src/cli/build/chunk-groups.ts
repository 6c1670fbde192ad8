import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * `runtime`: the chunk that every page with a view loads. `live` and `forms`: the modules that only pages with live
 * updates, or with forms of server functions, load.
 */
export type ChunkGroup = "runtime" | "live" | "forms";

/** The modules of `dist/` that belong to live updates, without their extension. */
export const LIVE_MODULES = /^(browser\/(live|subscribe)|protocol\/(feed|live))/;

/** The modules of `dist/` that belong to forms, without their extension. */
const FORM_MODULES = /^(browser|protocol)\/form/;

/**
 * The modules of `dist/` that only pages with numbers in styles, with `<select defaultValue>`, with presence or with live queries
 * need.
 */
const RARE_MODULES =
  /^(browser\/(styles|selects|displays|present|live-value|optimistic|live-landing|live-poll)|protocol\/(html-props|presence|query))\b/;

/** Preact without its hooks and `compat`: only pages whose views import those load them. */
const PREACT = /\/node_modules\/preact\/(?!hooks\/|compat\/)/;
const OWN_PACKAGE = /\/node_modules\/tsweb\/dist\//;
/** Not the module of the views of parts, which only pages with parts load. */
const VIRTUAL_MODULE = /^\0?virtual:tsweb\/(?!part-views)/;

/**
 * Returns the chunk group of a module of the browser's build, `undefined` for all others.
 *
 * @param id the module's id
 * @param distFolders the folders of this package's built files, see {@link ownDistFolders}. Modules are matched by
 *   folder, because other packages have files such as `dist/browser/` too
 */
export function chunkGroupOf(id: string, distFolders: readonly string[]): ChunkGroup | undefined {
  const file = normalize(id);
  const ownFile = fileInDist(file, distFolders);
  if (ownFile !== undefined) {
    if (RARE_MODULES.test(ownFile)) return undefined; // Rolldown puts them where they are used
    if (FORM_MODULES.test(ownFile)) return "forms";
    return LIVE_MODULES.test(ownFile) ? "live" : "runtime";
  }
  return PREACT.test(file) || VIRTUAL_MODULE.test(file) ? "runtime" : undefined;
}

/** Returns whether a module is a built file of this package. @param distFolders see {@link ownDistFolders} */
export function isOwnModule(id: string, distFolders: readonly string[]): boolean {
  return fileInDist(normalize(id), distFolders) !== undefined;
}

function fileInDist(file: string, distFolders: readonly string[]): string | undefined {
  const folder = distFolders.find((distFolder) => file.startsWith(distFolder)) ?? OWN_PACKAGE.exec(file);
  if (folder === null) return undefined;
  return typeof folder === "string" ? file.slice(folder.length) : file.slice(folder.index + folder[0].length);
}

/**
 * Returns the folders of this package's built files, each with a slash at its end: of the copy that the project
 * imports, and of the running one. They differ when the running CLI is not the one that the project has installed.
 *
 * @param root the application's folder
 */
export function ownDistFolders(root: string): string[] {
  const running = fileURLToPath(new URL("../..", import.meta.url));
  return [...new Set([running, ...installedDist(root)].map(normalize))];
}

/** Resolves links, as Vite does for the ids of modules. */
function installedDist(root: string): string[] {
  try {
    return [join(dirname(createRequire(join(root, "package.json")).resolve("tsweb/package.json")), "dist/")];
  } catch {
    return []; // the project has no copy of its own
  }
}

/** Writes forward slashes and a drive letter in upper case, as two programs may name one file on Windows. */
function normalize(path: string): string {
  return path.replaceAll("\\", "/").replace(/^[a-z]:/, (drive) => drive.toUpperCase());
}
