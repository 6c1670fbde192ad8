import { posix, relative, sep } from "node:path";
import type { DevEnvironment, EnvironmentModuleNode, Plugin } from "vite";
import type { Assets } from "../pages/index.ts";
import { appStyleSheets, type ModuleGraph, styleSheetsOf } from "./module-graph.ts";

const ISLANDS = "virtual:tsweb/islands";
const ERROR_PAGE = "virtual:tsweb/error-page";

/** Returns the URL at which Vite serves a virtual module. */
const urlOf = (id: string) => `/@id/${id}`;

/** The script of the page that shows an error. */
export const ERROR_PAGE_SCRIPT = urlOf(ERROR_PAGE);

/** The path that responds with the number of edits, see `countEdits`. */
export const EDITS_PATH = "/@tsweb/edits";

/** Reloads an error page after an edit. No module of such a page is loaded, so there is none to watch. */
const RELOAD_AFTER_EDIT = `
const countEdits = async () => {
  try {
    return await (await fetch("${EDITS_PATH}", { cache: "no-store" })).text();
  } catch {
    return "the server is unreachable";
  }
};
const before = await countEdits();
const check = async () => {
  if (!document.hidden && (await countEdits()) !== before) location.reload();
  else setTimeout(check, 200);
};
check();
`;

/** Serves the scripts that only exist in development: the page script, and the script of the error page. */
export function developmentScripts(): Plugin {
  const scripts: Readonly<Record<string, string>> = {
    [ISLANDS]: 'import "tsweb/islands";',
    [ERROR_PAGE]: RELOAD_AFTER_EDIT,
  };
  return {
    name: "tsweb:development-scripts",
    resolveId: (id) => (Object.hasOwn(scripts, id) ? id : undefined),
    load: (id) => scripts[id],
  };
}

/** Returns the assets of pages as the files are now. */
export function developmentAssets(ssr: DevEnvironment, entry: string): Assets {
  const { root } = ssr.config;
  const graph = moduleGraphOf(ssr);
  const toUrl = (file: string) => `/${relative(root, file).split(sep).join(posix.sep)}`;
  return {
    scripts: ["/@vite/client"],
    atRoot: true,
    islands: { src: urlOf(ISLANDS), preload: [] },
    view: ({ file }) => ({ src: `/${file}`, preload: [] }),
    styles(page) {
      const pageStyles = page ? styleSheetsOf(posix.join(root, page.file), graph) : [];
      return [...new Set([...appStyleSheets(entry, graph), ...pageStyles])].map(toUrl);
    },
  };
}

/** Returns the module graph of the server environment. It stays current. */
export function moduleGraphOf(ssr: DevEnvironment): ModuleGraph {
  const nodeOf = (file: string): EnvironmentModuleNode | undefined => ssr.moduleGraph.getModuleById(file);
  return {
    imports: (file) => [...(nodeOf(file)?.importedModules ?? [])].flatMap(({ id }) => (id === null ? [] : [id])),
  };
}
