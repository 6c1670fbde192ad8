import { join } from "node:path";
import { type BuildRegistry, isServerModule } from "../../compile/index.ts";
import { appStyleSheets, type ModuleGraph, sharedModules, styleSheetsOf } from "../modules/index.ts";
import { relativeFile } from "../project/index.ts";
import { chunkGroupOf, ownDistFolders } from "./chunk-groups.ts";
import type { ServerGraph } from "./server.ts";

/** The inputs of the browser's build: the modules and style sheets that pages load, read from the server's build. */
export interface BrowserInputs {
  /** The modules of the views that pages render, as absolute paths. */
  readonly views: readonly string[];
  /** The modules that all of those import, directly or through others. */
  readonly shared: readonly string[];
  /** The style sheets of each page module, as absolute paths, by the module's relative file. */
  readonly styles: Readonly<Record<string, readonly string[]>>;
  /** The style sheets of all pages, as absolute paths. */
  readonly appStyles: readonly string[];
  /** Whether the application imports `preact/compat`, whose `lazy` and `Suspense` suspend components. */
  readonly hasCompat: boolean;
}

const COMPAT_MODULE = /[\\/]preact[\\/]compat[\\/]/;

/** A finished build of the server. */
export interface FinishedServerBuild {
  readonly graph: ServerGraph;
  readonly registry: BuildRegistry;
}

/**
 * Returns the inputs of the browser's build.
 *
 * @param root the application's folder
 * @param entry the application module
 */
export function browserInputs(root: string, entry: string, { graph, registry }: FinishedServerBuild): BrowserInputs {
  const pageModules = graph.modules.filter((id) => isServerModule(id, root));
  const views = [...new Set(registry.views().map(({ file }) => join(root, file)))];
  const ownGraph = withoutImportsOfTsweb(root, graph);
  const isView = (id: string) => views.includes(id);
  return {
    views,
    shared: sharedModules(views, ownGraph),
    styles: Object.fromEntries(
      pageModules.map((id) => [relativeFile(root, id), styleSheetsOf(id, ownGraph, { isView })]),
    ),
    appStyles: appStyleSheets(entry, { root, graph: ownGraph, isView }),
    hasCompat: graph.modules.some((id) => COMPAT_MODULE.test(id)),
  };
}

/**
 * Returns the graph without the imports of tsweb's own modules: the server's version of `view` imports Preact's hooks. They
 * import no style sheets either, so that the search for those of each page need not visit all modules of tsweb.
 */
function withoutImportsOfTsweb(root: string, { imports, dynamicImports }: ModuleGraph): ModuleGraph {
  const distFolders = ownDistFolders(root);
  const known = new Map<string, readonly string[]>();
  return {
    dynamicImports,
    imports(id) {
      const found = known.get(id) ?? (chunkGroupOf(id, distFolders) ? [] : imports(id));
      known.set(id, found);
      return found;
    },
  };
}
