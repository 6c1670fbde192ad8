import { SESSION_PATH } from "../protocol/index.ts";
import { getFields, isModified } from "./fields.ts";
import { getPageData } from "./page-data.ts";
import { MAX_RELOAD_DELAY_MS, MIN_RELOAD_INTERVAL_MS, RELOAD_CHECK_MS, RESTORE_TIMEOUT_MS } from "./timings.ts";

/** The timer of the reload, while one is pending. */
let timer: ReturnType<typeof setTimeout> | undefined;

/**
 * Reloads the page because it has missed live updates, or is of an older build: after a random delay, not while a field has
 * unsaved input, and not before 30 seconds have passed since a reload.
 *
 * @param windowMs the longest delay: the server sends it, so that not all of its pages reload at once
 * @see docs/protocol.md 3.9 and 10.10
 */
export function reload(windowMs: number = MAX_RELOAD_DELAY_MS): void {
  timer ??= setTimeout(reloadWhenIdle, Math.random() * windowMs);
}

/**
 * Reloads the page because a script of its build cannot be loaded: once for each error in this tab, because the script may
 * be missing for another reason.
 *
 * @throws DOMException if the browser allows no storage: the page is not reloaded then
 */
export function reloadOnce(error: unknown): void {
  // The error has the URL of the script, but not in all browsers.
  const key = `${getPageData().build}${error}`;
  if (!sessionStorage[key]) reload();
  sessionStorage[key] = 1;
}

/** Returns how the page was loaded. A page has one entry of this kind; some old browsers have none. */
export function getNavigation(): PerformanceNavigationTiming | undefined {
  return performance.getEntriesByType("navigation")[0] as PerformanceNavigationTiming | undefined; // the type of this kind
}

/** Reloads the page unless the user is typing or has typed something, or the page was opened by a reload just now. */
function reloadWhenIdle(): void {
  // An active element that is not HTML has no `isContentEditable`, and no text to enter.
  const active = document.activeElement as HTMLElement | null;
  const isInUse =
    active?.isContentEditable ||
    getFields().some(isModified) ||
    (performance.now() <= MIN_RELOAD_INTERVAL_MS && getNavigation()?.type === "reload"); // also by the user
  timer = isInUse ? setTimeout(reloadWhenIdle, RELOAD_CHECK_MS) : undefined;
  if (timer) return;
  history.replaceState(history.state, ""); // the page of a form is then reloaded with GET, and the form not sent again
  location.reload(); // the user may cancel the reload
}

/** The last event: the page may be left and restored again before the server has answered. */
let lastPageShow: PageTransitionEvent | undefined;

/**
 * Handles the event `pageshow`. A page that the browser has kept for Back takes no input before the server has answered whether
 * its sign-in is still that of the browser: if it is not, the page is reloaded. If the server does not answer, or has
 * another problem, the page is used as it is: its calls are checked anyway.
 *
 * @see docs/protocol.md 7.10
 */
export async function checkSignIn(event: PageTransitionEvent): Promise<void> {
  const { base, tag = "" } = getPageData();
  if (!event.persisted || tag === null) return; // a page for all clients shows nothing of a sign-in
  lastPageShow = event;
  const { body, activeElement } = document;
  body.inert = true;
  try {
    const response = await fetch(base + SESSION_PATH, {
      cache: "no-store",
      signal: AbortSignal.timeout(RESTORE_TIMEOUT_MS),
    });
    // `before` may refuse or redirect signed-out users. An older server has no such path.
    if (response.ok ? (await response.text()) !== tag : /40[13]/.test(`${response.status}`)) {
      return location.reload();
    }
  } catch {
    // The server is unreachable.
  }
  if (event !== lastPageShow) return;
  body.inert = false;
  (activeElement as HTMLElement | null)?.focus(); // an inert element loses it
}
