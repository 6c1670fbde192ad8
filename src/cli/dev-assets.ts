import { posix, relative, sep } from "node:path";
import type { DevEnvironment, EnvironmentModuleNode, Plugin } from "vite";
import type { Assets } from "../pages/index.ts";
import { appStyleSheets, type ModuleGraph, styleSheetsOf } from "./graph.ts";

const ISLANDS = "virtual:tsweb/islands";
const ERROR_PAGE = "virtual:tsweb/error-page";

/** Gives the address at which the development server has a module that is no file. */
const addressOf = (id: string) => `/@id/${id}`;

/** The script of the page that shows an error. */
export const ERROR_PAGE_SCRIPT = addressOf(ERROR_PAGE);

/**
 * The scripts that only development has: the one that brings views to life, by way of the
 * dependencies as the build tool has bundled them, and the one of the error page.
 */
export function developmentScripts(): Plugin {
  const scripts: Readonly<Record<string, string>> = {
    [ISLANDS]: 'import "tsweb/islands";',
    [ERROR_PAGE]: RELOAD_WHEN_MENDED,
  };
  return {
    name: "tsweb:development-scripts",
    resolveId: (id) => (Object.hasOwn(scripts, id) ? id : undefined),
    load: (id) => scripts[id],
  };
}

/** Where the development server tells how many edits it has seen. */
export const EDITS = "/@tsweb/edits";

/** A page that failed knows no module to watch, so it asks whether anything at all was edited. */
const RELOAD_WHEN_MENDED = `
const edits = async () => {
  try {
    return await (await fetch("${EDITS}", { cache: "no-store" })).text();
  } catch {
    return "the server is away";
  }
};
const before = await edits();
const look = async () => {
  if (!document.hidden && (await edits()) !== before) location.reload();
  else setTimeout(look, 200);
};
look();
`;

/** Gives pages their assets as they are in the files now. */
export function developmentAssets(ssr: DevEnvironment, entry: string): Assets {
  const { root } = ssr.config;
  const graph = graphOf(ssr);
  const address = (file: string) => `/${relative(root, file).split(sep).join(posix.sep)}`;
  return {
    scripts: ["/@vite/client"],
    atRoot: true,
    islands: { src: addressOf(ISLANDS), preload: [] },
    view: ({ file }) => ({ src: `/${file}`, preload: [] }),
    styles(page) {
      const own = page ? styleSheetsOf(posix.join(root, page.file), graph) : [];
      return [...new Set([...appStyleSheets(entry, graph), ...own])].map(address);
    },
  };
}

/** Gives what imports what on the server, as it is known now. */
export function graphOf(ssr: DevEnvironment): ModuleGraph {
  const nodeOf = (file: string): EnvironmentModuleNode | undefined => ssr.moduleGraph.getModuleById(file);
  return {
    imports: (file) => [...(nodeOf(file)?.importedModules ?? [])].flatMap(({ id }) => (id === null ? [] : [id])),
  };
}
