/**
 * The script that each page of the development server loads before all others of the application. It reports uncaught
 * errors (`error-reports.ts`), reloads an outdated page, and checks the page after edits of its views.
 */
import {
  CONNECTED_EVENT,
  EDIT_AGE_HEADER,
  EDIT_EFFECT_HEADER,
  EDITED_PATH,
  EDITS_PATH,
  HYDRATION_PROBLEM_EVENT,
  PAGE_CHECK_EVENT,
  REQUEST_ID_HEADER,
  VIEWS_UPDATE_EVENT,
} from "../../../protocol/index.ts";
import { hasErrors, isPageReloading, requestPage, setPageReloading } from "./error-reports.ts";
import { hot } from "./hot.ts";
import { reloadWithGet } from "./reload-with-get.ts";

declare global {
  interface WindowEventMap {
    readonly [HYDRATION_PROBLEM_EVENT]: CustomEvent<() => void>;
  }
}

// What the browser has prefetched is older than an edit. After one of a server module, the page is reloaded.
hot.on("vite:afterUpdate", clearPrefetches);
if (navigationEntry()?.type === "reload") void clearPrefetches();

async function clearPrefetches(): Promise<void> {
  await fetch(EDITED_PATH, { cache: "no-store" }).catch(() => undefined); // the server restarts
}

// The server reloads the page if it has missed an update. The connection may be open already, or be opened later.
hot.on("vite:ws:connect", reportConnection);
reportConnection();

function reportConnection(): void {
  hot.send(CONNECTED_EVENT, { age: performance.now() - requestTime() });
}

const RELOAD_INTERVAL_MS = 10_000;
const MAX_WAITS = 10;
const RELOADED_KEY = "tsweb:reloaded-after-edit";

const isReloaded = readReloaded();

// A page that was requested before an edit had taken effect, and has loaded the edited view, is reloaded if the view cannot be
// hydrated or renders other markup than the server did (`src/browser/dev/hydration.ts`): as soon as no more edits follow. The
// page that is loaded thereby reports such a problem, because applications may write files whenever a page is rendered.
addEventListener(HYDRATION_PROBLEM_EVENT, (event) => {
  event.preventDefault();
  reloadOutdatedPage().then((isOutdated) => isOutdated || event.detail());
});

/** Returns whether the page is reloaded because it was requested before the last edit had taken effect. Never rejects. */
async function reloadOutdatedPage(): Promise<boolean> {
  let isOutdated = false;
  try {
    let age = await readEffectAge();
    if (isPageReloading()) return true;
    if (isReloaded || !(age < performance.now() - requestTime())) return false;
    isOutdated = true;
    setPageReloading(true);
    // A limit, because a program may write files all the time.
    for (let waits = 0; age < 0 && waits < MAX_WAITS; waits++) {
      await new Promise((resolve) => setTimeout(resolve, -age));
      age = await readEffectAge();
    }
    sessionStorage.setItem(RELOADED_KEY, String(Date.now()));
  } catch {
    // The server is unreachable, or the browser allows no storage: the problem is reported, unless Vite reloads the page.
    if (isOutdated) setPageReloading(false);
    return isPageReloading();
  }
  reloadWithGet();
  return true;
}

/** Returns whether this page was loaded because the page before it was outdated. */
function readReloaded(): boolean {
  try {
    const isRecent = Date.now() - Number(sessionStorage.getItem(RELOADED_KEY)) < RELOAD_INTERVAL_MS;
    sessionStorage.setItem(RELOADED_KEY, "0");
    return isRecent;
  } catch {
    return false; // the browser allows no storage
  }
}

/** Returns how long ago the last edit must have taken effect, in milliseconds: negative if it may not yet have. */
async function readEffectAge(): Promise<number> {
  const { headers } = await fetch(EDITS_PATH, { cache: "no-store" });
  return Number(headers.get(EDIT_AGE_HEADER) ?? Number.NaN) - Number(headers.get(EDIT_EFFECT_HEADER));
}

/** Returns when the page was requested, in milliseconds; `NaN` if the browser does not know it. */
function requestTime(): number {
  return navigationEntry()?.requestStart ?? Number.NaN;
}

function navigationEntry(): PerformanceNavigationTiming | undefined {
  return (performance.getEntriesByType("navigation") as PerformanceNavigationTiming[])[0]; // by its type
}

// An edit of a view updates the page in place, without the server, so the server has neither rendered the edited view nor
// checked the forms of the page. The page is requested once more in the background, unless the edit has caused an error in the
// browser: the overlay shows it.
addEventListener(VIEWS_UPDATE_EVENT, (event) => {
  // Preact renders the update before the next task, and its errors are reported in the task after that.
  setTimeout(() => setTimeout(() => event.defaultPrevented || hasErrors() || checkPage()));
});
hot.on(PAGE_CHECK_EVENT, checkPage);

let checks = 0;

async function checkPage(): Promise<void> {
  const check = ++checks;
  const response = await requestPage();
  // A later edit may have fixed the error.
  if (response?.status === 500 && check === checks) {
    hot.send(PAGE_CHECK_EVENT, { id: response.headers.get(REQUEST_ID_HEADER) });
  }
}
