import { posix } from "node:path";
import type { DevEnvironment, EnvironmentModuleNode, Plugin } from "vite";
import type { BuildRegistry } from "../../compile/index.ts";
import type { Assets } from "../../pages/index.ts";
import { PANEL_PATH } from "../../panel/index.ts";
import { appStyleSheets, type ModuleGraph, styleSheetsOf } from "../modules/index.ts";
import { relativeFile } from "../project/index.ts";
import { browserScript } from "./browser-script.ts";
import { UPDATE_FAILURE_EVENT } from "./page-events.ts";

/**
 * The path below which the development server serves the browser's modules. It is below the framework's own path, so
 * that no file of the project has the URL of a page or a route.
 *
 * @see docs/protocol.md 12.5
 */
export const DEV_BASE = `${PANEL_PATH}/`;

const ISLANDS = "virtual:tsweb/islands";
const ERROR_PAGE = "virtual:tsweb/error-page";
const VIOLATIONS = "virtual:tsweb/policy-violations";
const ERRORS = "virtual:tsweb/errors";

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

/** The script of the page that shows an error. */
export const ERROR_PAGE_SCRIPT = devUrl(`@id/${ERROR_PAGE}`);

/** The script that shows violations of the content security policy in the console. */
const VIOLATIONS_SCRIPT = devUrl(`@id/${VIOLATIONS}`);

/** The script that reports uncaught errors, and checks the page after edits of views. */
const ERRORS_SCRIPT = devUrl(`@id/${ERRORS}`);

/** The scripts of every page, before its own. */
const FIRST_SCRIPTS: readonly string[] = [VITE_CLIENT, ERRORS_SCRIPT, VIOLATIONS_SCRIPT];

/** The scripts that pages refer to besides their views. */
export const PAGE_SCRIPTS: readonly string[] = [...FIRST_SCRIPTS, ISLANDS_SCRIPT, ERROR_PAGE_SCRIPT];

/** The path that responds with the version of the files, see `EditVersions`. */
export const EDITS_PATH = devUrl("@tsweb/edits");

/** The path to which browsers send reports of violations of the content security policy. */
export const POLICY_REPORTS_PATH = devUrl("@tsweb/policy-reports");

/** The event of Vite's WebSocket with which a page requests messages about violations, and receives them. */
export const VIOLATIONS_EVENT = "tsweb:policy-violations";

/** Requests the messages since the page was opened: the browser has reported violations in its markup before. */
const SHOW_VIOLATIONS = `
const shown = new Set();
import.meta.hot.on("${VIOLATIONS_EVENT}", ({ path, messages }) => {
  if (path !== location.pathname) return;
  for (const message of messages) {
    if (!shown.has(message)) console.error(message);
    shown.add(message);
  }
});
import.meta.hot.send("${VIOLATIONS_EVENT}", { path: location.pathname, since: performance.timeOrigin });
`;

/**
 * Reloads a page with GET. A plain reload of a response to a form would send the form again, and run its function twice.
 * To replace the history entry removes its request body. A fragment in the URL does not prevent the reload.
 */
const RELOAD_WITH_GET = 'history.replaceState(history.state, ""), location.reload()';

/**
 * Reloads an error page if the files are not in the version of its request. No module of such a page is loaded, so there
 * is none to watch.
 */
const RELOAD_AFTER_EDIT = `
const readVersion = async () => {
  try {
    return await (await fetch("${EDITS_PATH}", { cache: "no-store" })).text();
  } catch {
    return "the server is unreachable";
  }
};
const check = async () => {
  if (!document.hidden && (await readVersion()) !== document.documentElement.dataset.edits) ${RELOAD_WITH_GET};
  else setTimeout(check, 200);
};
check();
`;

/** Serves the scripts that only exist in development: the page script, and the script of the error page. */
export function developmentScripts(): Plugin {
  const scripts: Readonly<Record<string, string>> = {
    [ISLANDS]: 'import "tsweb/islands";',
    [ERROR_PAGE]: RELOAD_AFTER_EDIT,
    [VIOLATIONS]: SHOW_VIOLATIONS,
    [ERRORS]: browserScript(EDITS_PATH),
  };
  return {
    name: "tsweb:development-scripts",
    resolveId: (id) => (Object.hasOwn(scripts, id) ? id : undefined),
    load: (id) => scripts[id],
  };
}

/** The lines of Vite's script for the console of the browser, and those in their place. */
const CONSOLE_LINES = [
  [
    "This could be due to syntax errors or importing non-existent modules. (see errors above)",
    "The page stays as it is until the module is fixed, and the terminal of tsweb dev shows the error.",
  ],
  [
    "server connection lost. Polling for restart...",
    "tsweb dev restarts, or it has stopped. The page is loaded again as soon as it responds.",
  ],
  [
    'error: (err) => console.error("[vite]", err),',
    `error: (err) => dispatchEvent(new CustomEvent("${UPDATE_FAILURE_EVENT}", { detail: err, cancelable: true })) && console.error("[vite]", err),`,
  ],
] as const;

/**
 * Changes Vite's script in five ways. What it writes to the console says what happens next and where the error is shown. Errors
 * of updates are held as those of edited views are (`error-reports-script.ts`). While the server is unreachable, it waits for it from the page itself: by default,
 * it uses a worker that it creates from a blob, which no policy of an application allows. It reloads with GET. And the
 * locations in its overlay are no links, because the development server opens no editor.
 */
export function adaptViteClient(): Plugin {
  return {
    name: "tsweb:adapt-vite-client",
    enforce: "pre",
    applyToEnvironment: (environment) => environment.name === "client",
    transform: (code, id) =>
      /\/vite\/dist\/client\/client\.mjs$/.test(id)
        ? {
            code: `const SharedWorker = undefined; ${CONSOLE_LINES.reduce(
              (text, [line, own]) => text.replace(line, own),
              code,
            )
              .replaceAll("location.reload()", `(${RELOAD_WITH_GET})`)
              .replace("new ErrorOverlayConstructor(err)", "new ErrorOverlayConstructor(err, false)")}`,
            map: null,
          }
        : null,
  };
}

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
