import { readFile } from "node:fs/promises";
import { posix } from "node:path";
import type { Plugin } from "vite";
import { UPDATE_FAILURE_EVENT } from "../../protocol/index.ts";
import { PAGE_MODULES } from "../modules/index.ts";
import { VIRTUAL } from "./server/index.ts";

/** The scripts that the build of the package bundles from `page/`: each is named as the last part of its id. */
const BUNDLED: readonly string[] = [VIRTUAL.errors, VIRTUAL.violations, VIRTUAL.errorPage];

/** Serves the page script, and the scripts of `page/`, which only exist in development. */
export function developmentScripts(): Plugin {
  return {
    name: "tsweb:development-scripts",
    resolveId: (id) => (Object.hasOwn(PAGE_MODULES, id) || BUNDLED.includes(id) ? id : undefined),
    load(id) {
      if (Object.hasOwn(PAGE_MODULES, id)) return PAGE_MODULES[id];
      if (!BUNDLED.includes(id)) return undefined;
      return readFile(new URL(`./page/${posix.basename(id)}.js`, import.meta.url), "utf8");
    },
  };
}

/** What reloads a page with GET (`page/reload-with-get.ts`), as an expression. */
const RELOAD_WITH_GET = 'history.replaceState(history.state, ""), location.reload()';

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
 * of updates are held as those of edited views are (`page/error-reports.ts`). While the server is unreachable, it waits for it
 * from the page itself: by default, it uses a worker that it creates from a blob, which no policy of an application allows. It reloads with GET. And the
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
