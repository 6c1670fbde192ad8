import type { Plugin } from "vite";
import { HYDRATION_PROBLEM_EVENT, REQUEST_ID_HEADER, VIEWS_UPDATE_EVENT } from "../../protocol/index.ts";
import { REPORT_ERRORS } from "./error-reports-script.ts";
import {
  EDIT_AGE_HEADER,
  EDIT_EFFECT_HEADER,
  EDITS_PATH,
  PAGE_CHECK_EVENT,
  UPDATE_FAILURE_EVENT,
  VIOLATIONS_EVENT,
  VIRTUAL,
} from "./server/index.ts";

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

/**
 * Returns the script that each page of the development server loads before all others. Its parts share one scope: the later
 * ones use what the first one declares.
 *
 * @param editsPath the path that responds with the version of the files
 */
const browserScript = (editsPath: string): string => `${REPORT_ERRORS}${reloadOutdatedPages(editsPath)}${CHECK_PAGE}`;

/**
 * The second part of the script of a page. It reloads an outdated page.
 *
 * A page that was requested before an edit had taken effect, and has loaded the edited view, is reloaded if the view cannot be
 * hydrated or renders other markup than the server did (`src/browser/dev/hydration.ts`): as soon as no more edits follow. The
 * page that is loaded thereby reports such a problem, because applications may write files whenever a page is rendered.
 *
 * @param editsPath the path that responds with the version of the files
 */
export const reloadOutdatedPages = (editsPath: string): string => `
const RELOAD_INTERVAL_MS = 10_000;
const MAX_WAITS = 10;
const RELOADED_KEY = "tsweb:reloaded-after-edit";

// Returns whether this page was loaded because the page before it was outdated.
const readReloaded = () => {
  try {
    const isReloaded = Date.now() - Number(sessionStorage.getItem(RELOADED_KEY)) < RELOAD_INTERVAL_MS;
    sessionStorage.setItem(RELOADED_KEY, 0);
    return isReloaded;
  } catch {
    return false; // the browser allows no storage
  }
};
const isReloaded = readReloaded();

// Returns how long ago the last edit must have taken effect, in milliseconds: negative if it may not yet have.
const readEffectAge = async () => {
  const { headers } = await fetch("${editsPath}", { cache: "no-store" });
  return Number(headers.get("${EDIT_AGE_HEADER}") ?? NaN) - Number(headers.get("${EDIT_EFFECT_HEADER}"));
};

// Returns whether the page is reloaded because it was requested before the last edit had taken effect. Never rejects.
const reloadOutdatedPage = async () => {
  let isOutdated = false;
  try {
    let age = await readEffectAge();
    const [{ requestStart }] = performance.getEntriesByType("navigation");
    if (isReloading) return true;
    if (isReloaded || !(age < performance.now() - requestStart)) return false;
    isReloading = isOutdated = true;
    // A limit, because a program may write files all the time.
    for (let waits = 0; age < 0 && waits < MAX_WAITS; waits++) {
      await new Promise((resolve) => setTimeout(resolve, -age));
      age = await readEffectAge();
    }
    sessionStorage.setItem(RELOADED_KEY, Date.now());
  } catch {
    // The server is unreachable, or the browser allows no storage: the problem is reported, unless Vite reloads the page.
    if (isOutdated) isReloading = false;
    return isReloading;
  }
  history.replaceState(history.state, ""); // a reload with GET
  location.reload();
  return true;
};

addEventListener("${HYDRATION_PROBLEM_EVENT}", (event) => {
  event.preventDefault();
  reloadOutdatedPage().then((isOutdated) => isOutdated || event.detail());
});
`;

/**
 * The third part of the script of a page. It requests the page in the background after an edit of a view. Such an edit updates the page in place, without the server, so the server has neither rendered the edited view nor
 * checked the forms of the page.
 *
 * The page is not requested if the edit has caused an error in the browser: the overlay shows it.
 */
const CHECK_PAGE = `
let checks = 0;

const checkPage = async () => {
  const check = ++checks;
  const response = await requestPage();
  // A later edit may have fixed the error.
  if (response?.status === 500 && check === checks) {
    hot.send("${PAGE_CHECK_EVENT}", { id: response.headers.get("${REQUEST_ID_HEADER}") });
  }
};

addEventListener("${VIEWS_UPDATE_EVENT}", (event) => {
  // Preact renders the update before the next task, and its errors are reported in the task after that.
  setTimeout(() => setTimeout(() => event.defaultPrevented || hasOverlay || held.size > 0 || checkPage()));
});
hot.on("${PAGE_CHECK_EVENT}", checkPage);
`;

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
