import { getFields, isModified } from "./fields.ts";
import { getNavigation } from "./navigation.ts";

/** The longest random delay before a reload, so that not all pages reload at once. */
const MAX_DELAY_MS = 3_000;
/** The interval of checks whether the page can be reloaded. */
const CHECK_INTERVAL_MS = 1_000;
/** How long a page is shown after a reload before it is reloaded again, so that a lasting gap does not cause a loop. */
const MIN_INTERVAL_MS = 30_000;

let isPending = false;

/**
 * Reloads the page because it has missed live updates: after a random delay, not while a field has unsaved input, and not
 * before 30 seconds have passed since a reload.
 *
 * @see docs/protocol.md 10.10
 */
export function reload(): void {
  if (isPending) return;
  isPending = true;
  setTimeout(reloadWhenIdle, Math.random() * MAX_DELAY_MS);
}

function reloadWhenIdle(): void {
  if (hasInput() || wasJustReloaded()) {
    setTimeout(reloadWhenIdle, CHECK_INTERVAL_MS);
    return;
  }
  isPending = false; // the user may cancel the reload
  history.replaceState(history.state, ""); // the page of a form is then reloaded with GET, and the form not sent again
  location.reload();
}

/** Returns whether the page was opened by a reload, also by the user, at most 30 seconds ago. */
function wasJustReloaded(): boolean {
  return performance.now() <= MIN_INTERVAL_MS && getNavigation()?.type === "reload";
}

function hasInput(): boolean {
  // An active element that is not HTML has no `isContentEditable`, and no text to enter.
  const active = document.activeElement as HTMLElement | null;
  return active?.isContentEditable || getFields().some(isModified);
}
