import { isTouched } from "./fields.ts";

/** Not all pages at once: each within so many milliseconds. */
const SPREAD_MS = 3_000;
/** How often to look whether the visitor is done with typing. */
const LOOK_MS = 1_000;
/** A page that was reloaded so shortly before would only be reloaded again. */
const QUIET_MS = 30_000;
/** Where the tab keeps when that was. */
const KEY = "tsweb-reload";

let isDue = false;

/**
 * Reloads the page, since it has missed something: after a random moment, and not while a field holds
 * what the visitor has entered. Where that was done within the last 30 seconds, or nobody can tell, it
 * says so on the console instead.
 */
export function reload(reason: string): void {
  if (isDue) return;
  isDue = true;
  setTimeout(() => reloadOnce(reason), Math.random() * SPREAD_MS);
}

function reloadOnce(reason: string): void {
  if (isFilledIn()) {
    setTimeout(() => reloadOnce(reason), LOOK_MS);
    return;
  }
  isDue = false;
  try {
    const now = Date.now();
    // From what the clock said before it was set back, too, it may be far.
    if (Math.abs(now - Number(sessionStorage.getItem(KEY))) > QUIET_MS) {
      sessionStorage.setItem(KEY, `${now}`);
      location.reload();
      return;
    }
  } catch {
    // The visitor has forbidden the storage: it may have been a moment ago.
  }
  console.error(`This page has missed live updates (${reason}): reload it`);
}

function isFilledIn(): boolean {
  // What is focused has `isContentEditable` if it is HTML, and else has no text to enter.
  const active = document.activeElement as HTMLElement | null;
  return (
    active?.isContentEditable ||
    [...document.querySelectorAll<HTMLInputElement>("input,select,textarea")].some(isTouched)
  );
}
