import { HYDRATION_PROBLEM_EVENT, REQUEST_ID_HEADER, VIEWS_UPDATE_EVENT } from "../../protocol/index.ts";
import { REPORT_ERRORS } from "./error-reports-script.ts";
import { EDIT_AGE_HEADER, EDIT_EFFECT_HEADER, PAGE_CHECK_EVENT } from "./server/index.ts";

/**
 * Returns the script that each page of the development server loads before all others. Its parts share one scope: the later
 * ones use what the first one declares.
 *
 * @param editsPath the path that responds with the version of the files
 */
export const browserScript = (editsPath: string): string =>
  `${REPORT_ERRORS}${reloadOutdatedPages(editsPath)}${CHECK_PAGE}`;

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
