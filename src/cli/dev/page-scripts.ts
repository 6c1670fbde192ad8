import type { Plugin } from "vite";
import { browserScript } from "./browser-script.ts";
import { EDITS_PATH, UPDATE_FAILURE_EVENT, VIOLATIONS_EVENT, VIRTUAL } from "./server/index.ts";

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
    [VIRTUAL.islands]: 'import "tsweb/islands";',
    [VIRTUAL.errorPage]: RELOAD_AFTER_EDIT,
    [VIRTUAL.violations]: SHOW_VIOLATIONS,
    [VIRTUAL.errors]: browserScript(EDITS_PATH),
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
