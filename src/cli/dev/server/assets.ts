/** The URLs of the development server, its events and headers, and the assets of pages. */
import { posix } from "node:path";
import type { DevEnvironment, EnvironmentModuleNode, Plugin, ResolvedConfig } from "vite";
import type { BuildRegistry } from "../../../compile/index.ts";
import type { Assets } from "../../../pages/index.ts";
import { PANEL_PATH } from "../../../protocol/index.ts";
import { appStyleSheets, ISLANDS, type ModuleGraph, PART_VIEWS, styleSheetsOf } from "../../modules/index.ts";
import { relativeFile } from "../../project/index.ts";

/**
 * The path below which the development server serves the browser's modules. It is below the framework's own path, so
 * that no file of the project has the URL of a page or a route.
 *
 * @see docs/protocol.md 12.5
 */
export const DEV_BASE = `${PANEL_PATH}/`;

/** The ids of the modules that only exist in development. */
export const VIRTUAL = {
  errorPage: "virtual:tsweb/error-page",
  violations: "virtual:tsweb/policy-violations",
  errors: "virtual:tsweb/errors",
} as const;

/** Returns the URL at which Vite serves a virtual module, or a file by its path relative to the project's root. */
const devUrl = (path: string) => `${DEV_BASE}${path}`;

/**
 * Returns the URL at which Vite serves a file. A file outside of the project's root, such as one of a linked package in a
 * workspace, has that of its absolute path below `@fs/`.
 *
 * @param file its absolute path
 */
export function fileUrl(file: string, root: string): string {
  return devUrl(file.startsWith(`${root}/`) ? relativeFile(root, file) : `@fs/${file.replace(/^\//, "")}`);
}

/** Vite's own script, which replaces edited modules. */
const VITE_CLIENT = devUrl("@vite/client");

/** The page script. */
const ISLANDS_SCRIPT = devUrl(`@id/${ISLANDS}`);

/** What the script of a part imports to start its views. */
const PART_VIEWS_SCRIPT = devUrl(`@id/${PART_VIEWS}`);

/** The script of the page that shows an error. */
export const ERROR_PAGE_SCRIPT = devUrl(`@id/${VIRTUAL.errorPage}`);

/** The script that shows violations of the content security policy in the console. */
const VIOLATIONS_SCRIPT = devUrl(`@id/${VIRTUAL.violations}`);

/** The script that reports uncaught errors, and checks the page after edits of views. */
const ERRORS_SCRIPT = devUrl(`@id/${VIRTUAL.errors}`);

/** The scripts of every page, before its own. */
const FIRST_SCRIPTS: readonly string[] = [VITE_CLIENT, ERRORS_SCRIPT, VIOLATIONS_SCRIPT];

/** The scripts that pages refer to besides their views. */
export const PAGE_SCRIPTS: readonly string[] = [...FIRST_SCRIPTS, ISLANDS_SCRIPT, PART_VIEWS_SCRIPT, ERROR_PAGE_SCRIPT];

/** The path to which browsers send reports of violations of the content security policy. */
export const POLICY_REPORTS_PATH = devUrl("@tsweb/policy-reports");

/** Returns the assets of pages as the files are now. */
export function developmentAssets(
  ssr: DevEnvironment,
  { entry, nonce, registry }: { readonly entry: string; readonly nonce: string; readonly registry: BuildRegistry },
): Assets {
  const { root } = ssr.config;
  const graph = moduleGraphOf(ssr);
  const isView = (id: string) => registry.views().some(({ file }) => posix.join(root, file) === id);
  const toUrl = (file: string) => fileUrl(file, root);
  return {
    scripts: FIRST_SCRIPTS,
    nonce,
    atRoot: true,
    islands: { src: ISLANDS_SCRIPT, preload: [] },
    partViews: { src: PART_VIEWS_SCRIPT, preload: [] },
    view: ({ file }) => ({ src: toUrl(posix.join(root, file)), preload: [] }),
    styles(page) {
      const pageStyles = page ? styleSheetsOf(posix.join(root, page.file), graph, { isView }) : [];
      return [...new Set([...appStyleSheets(entry, { root, graph, isView }), ...pageStyles])].map(toUrl);
    },
  };
}

/** Returns the module graph of the server environment. It stays current. */
export function moduleGraphOf(ssr: DevEnvironment): ModuleGraph {
  const nodeOf = (file: string): EnvironmentModuleNode | undefined => ssr.moduleGraph.getModuleById(file);
  const importsOf = (file: string, isWanted: (isDynamic: boolean) => boolean) => {
    const { importedModules = [], transformResult } = nodeOf(file) ?? {};
    const [deps, dynamicDeps] = [new Set(transformResult?.deps), new Set(transformResult?.dynamicDeps)];
    return [...importedModules].flatMap(({ id, url }) =>
      id !== null && isWanted(dynamicDeps.has(url) && !deps.has(url)) ? [id] : [],
    );
  };
  return {
    imports: (file) => importsOf(file, (isDynamic) => !isDynamic),
    dynamicImports: (file) => importsOf(file, (isDynamic) => isDynamic),
  };
}

/**
 * Resolves an import again that was not found. Vite caches that a file was not found until it is notified of a new
 * file, and may miss that. Its resolver for imports in style sheets is never notified.
 */
export function retryFailedResolves(): Plugin {
  return {
    name: "tsweb:retry-failed-resolves",
    enforce: "post",
    configResolved: retryInStyleSheets,
    async resolveId(source, importer, options) {
      if (this.environment.mode !== "dev") return undefined;
      // Called when no other plugin has resolved it. A notification about any file empties the resolver's cache.
      await this.environment.pluginContainer.watchChange(importer ?? source, { event: "create" });
      return this.resolve(source, importer, { ...options, skipSelf: true });
    },
  };
}

/** Replaces a resolver that found nothing by a new one, because its cache cannot be emptied in another way. */
function retryInStyleSheets(config: ResolvedConfig): void {
  const create = config.createResolver.bind(config);
  const createResolver: typeof create = (options) => {
    let resolve = create(options);
    return async (...request) => {
      const resolved = await resolve(...request);
      if (resolved !== undefined) return resolved;
      resolve = create(options);
      return resolve(...request);
    };
  };
  Object.assign(config, { createResolver });
}

/**
 * Rejects an import of a missing image or other asset on the server, in the words of Vite's runner for a missing module.
 * Vite itself would return a URL of the missing file.
 */
export function rejectMissingAssets(): Plugin {
  return {
    name: "tsweb:reject-missing-assets",
    enforce: "pre",
    applyToEnvironment: (environment) => environment.name === "ssr",
    load(id) {
      // An id is absolute once it is resolved.
      if (!/^\.{1,2}\//.test(id) || this.environment.mode !== "dev") return undefined;
      const [importer] = this.environment.moduleGraph.getModuleById(id)?.importers ?? [];
      if (!importer?.id) return undefined;
      const error = new Error(`Failed to load url ${id} (resolved id: ${id}) in ${importer.id}. Does the file exist?`);
      throw Object.assign(error, { code: "ERR_LOAD_URL" });
    },
  };
}
