import { fileURLToPath } from "node:url";
import type { DevEnvironment, EnvironmentModuleNode, HotUpdateOptions, Plugin } from "vite";
import { VIEWS_UPDATE_EVENT } from "../protocol/index.ts";
import { isServerModule } from "./modules/index.ts";
import { isStubId } from "./stubs.ts";
import { isVitest } from "./vite-config.ts";

/**
 * Decides what happens after a file was edited. A module of the browser is updated in place. A server module, or
 * another module that only the server loads, reloads the page, because the page was rendered with it.
 *
 * @returns the modules to update in the browser; `undefined` for Vite's default
 */
export function hotUpdate(environment: DevEnvironment, update: HotUpdateOptions): EnvironmentModuleNode[] | undefined {
  if (environment.name === "ssr") findLostImporters(environment);
  // On the server, imports are checked against the exports of all modules.
  if (update.type === "delete" || environment.name === "ssr") invalidateWithImporters(environment, update.modules);
  if (environment.name === "client") {
    if (isServerModule(update.file, environment.config.root)) {
      invalidateStubs(environment, update.timestamp);
      return [];
    }
    // The server module of a stub may be saved together with this file, and reported after it.
    renewStubs(environment, update.timestamp);
    return undefined;
  }
  const client = update.server.environments.client;
  // Without an id, it is no module, but a file on which one depends: the style sheet of Tailwind depends on all files.
  const isInBrowser = [...(client?.moduleGraph.getModulesByFile(update.file) ?? [])].some(({ id }) => id !== null);
  const isServerOnly =
    isServerModule(update.file, environment.config.root) || (update.modules.length > 0 && !isInBrowser);
  if (client && isServerOnly) client.hot.send({ type: "full-reload", path: "*" });
  return undefined;
}

/**
 * Adds each module to the importers of the modules that its code imports. Vite may have lost some: when an edit overtakes the
 * transformation of a module, Vite discards the outdated code, but keeps the outdated imports.
 */
function findLostImporters({ moduleGraph }: DevEnvironment): void {
  for (const importer of moduleGraph.idToModuleMap.values()) {
    const { deps = [], dynamicDeps = [] } = importer.transformResult ?? {};
    for (const url of [...deps, ...dynamicDeps]) moduleGraph.urlToModuleMap.get(url)?.importers.add(importer);
  }
}

/**
 * Invalidates modules and their importers. After a file is deleted, Vite keeps the importers, although their
 * specifier `./words` may now resolve to another file.
 */
function invalidateWithImporters(environment: DevEnvironment, modules: readonly EnvironmentModuleNode[]): void {
  for (const module of modules) {
    for (const node of [module, ...module.importers]) environment.moduleGraph.invalidateModule(node);
  }
}

/**
 * Invalidates all stubs and their importers, because imports are checked against the exports of server modules.
 * One server module may re-export functions of another, so the edited one is not enough.
 */
function invalidateStubs(environment: DevEnvironment, timestamp: number): void {
  renewStubs(environment, timestamp);
  invalidateWithImporters(environment, stubsIn(environment));
}

/**
 * Gives all stubs a new URL: a view that is updated before the page is reloaded imports them with the functions that they have
 * now. A browser does not load the module of a URL again.
 *
 * Their importers stay valid, other than with `invalidateModule`: the development server leaves out the calls of modules that are
 * not compiled, and views that were not edited would exist twice.
 */
function renewStubs({ moduleGraph }: DevEnvironment, timestamp: number): void {
  for (const stub of stubsIn({ moduleGraph })) {
    const etag = stub.transformResult?.etag;
    if (etag !== undefined) moduleGraph.etagToModuleMap.delete(etag); // no request gets 304 for the earlier functions
    stub.transformResult = null;
    stub.lastHMRTimestamp = timestamp;
  }
}

function stubsIn({ moduleGraph }: Pick<DevEnvironment, "moduleGraph">): EnvironmentModuleNode[] {
  return [...moduleGraph.idToModuleMap.values()].filter(({ id }) => id !== null && isStubId(id));
}

/** The module that connects the components of the browser's modules to Prefresh. */
const RUNTIME_ID = "virtual:tsweb/refresh";
const RESOLVED_RUNTIME_ID = `\0${RUNTIME_ID}`;

/**
 * Returns the Vite plugin that updates an edited view in place and keeps its state, in development. The compiler
 * registers every component of a module (`oxc.jsx.refresh`); this plugin connects that to Prefresh and accepts
 * the hot update.
 */
export function refresh(): Plugin {
  return {
    name: "tsweb:refresh",
    apply: "serve",
    applyToEnvironment: (environment) => environment.name === "client",
    configResolved(config) {
      // Vitest has no hot module replacement, so the code that the compiler adds for it would fail.
      if (isVitest(config) && config.oxc && typeof config.oxc.jsx === "object") config.oxc.jsx.refresh = false;
    },
    resolveId: {
      order: "pre",
      async handler(source, importer) {
        if (source === RUNTIME_ID) return RESOLVED_RUNTIME_ID;
        // Prefresh is a dependency of tsweb, so it is resolved from this package and not from the application.
        if (importer !== RESOLVED_RUNTIME_ID || !source.startsWith("@prefresh/")) return null;
        return this.resolve(source, fileURLToPath(import.meta.url), { skipSelf: true });
      },
    },
    load: (id) => (id === RESOLVED_RUNTIME_ID ? RUNTIME_CODE : null),
    transform(code, id) {
      if (!code.includes("$RefreshReg$(")) return null;
      const name = JSON.stringify(id.replace(/[?#].*$/s, ""));
      // The preamble shares the first line of the module, so the existing source map stays valid for every line.
      return { code: `${preamble(name)}${code}\n${POSTAMBLE}`, map: null };
    },
  };
}

const RUNTIME_CODE = `
import "@prefresh/core";
import { flush } from "@prefresh/utils";
const hooks = self.__PREFRESH__;
const components = new WeakSet();
export const registrar = (file) => (type, id) => {
  if (typeof type === "function") {
    components.add(type);
    // Messages name a view by its export, which is the first part of the id. The compiler has named its function _c, _c2 …
    if (/^(?:_c\\d*)?$/.test(type.name) && !Object.hasOwn(type, "displayName")) type.displayName = id.replace(/\\$.*/s, "");
  }
  hooks.register(type, file + " " + id);
};
export const signer = () => {
  let status = "begin";
  let savedType;
  return (type, key, forceReset, getCustomHooks) => {
    if (!savedType) savedType = type;
    status = hooks.sign(type || savedType, key, forceReset, getCustomHooks, status);
    return type;
  };
};
// A view may be an anonymous function, so components are recognised by identity and not by their names.
export const accept = (module) => Object.values(module).every((value) => typeof value === "function" && components.has(value));
// A page script that reloads the page prevents the event (src/browser/dev/development.ts).
export const update = () => {
  if (dispatchEvent(new Event("${VIEWS_UPDATE_EVENT}", { cancelable: true }))) flush();
};
`;

/** Returns the code before a module, without a line break, so that the module's line numbers do not change. */
function preamble(file: string): string {
  return `import { registrar as $tsweb_registrar, signer as $RefreshSig$, accept as $tsweb_accept, update as $tsweb_update } from "${RUNTIME_ID}"; const $RefreshReg$ = $tsweb_registrar(${file}); `;
}

/** Without a module, it could not be loaded, for example after a syntax error: the overlay shows why, and the page keeps its state. */
const POSTAMBLE = `if (import.meta.hot) import.meta.hot.accept((module) => {
  if (!module) return;
  if ($tsweb_accept(module)) $tsweb_update();
  else import.meta.hot.invalidate();
});`;
