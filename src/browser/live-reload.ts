import { getFields, isModified } from "./fields.ts";

/** The longest random delay before a reload, so that not all pages reload at once. */
const MAX_DELAY_MS = 3_000;
/** The interval of checks whether the fields still have unsaved input. */
const CHECK_INTERVAL_MS = 1_000;
/** The shortest time between two reloads, so that a lasting gap does not cause a reload loop. */
const MIN_INTERVAL_MS = 30_000;
/** The key in `sessionStorage` of the time of the last reload, in milliseconds. */
const STORAGE_KEY = "tsweb-reload";

let isPending = false;

/**
 * Reloads the page because it has missed live updates: after a random delay, and not while a field has unsaved input.
 * If it was reloaded within the last 30 seconds, or if that is unknown, it logs an error instead.
 *
 * @see docs/protocol.md 10.10
 */
export function reload(reason: string): void {
  if (isPending) return;
  isPending = true;
  setTimeout(() => reloadWhenIdle(reason), Math.random() * MAX_DELAY_MS);
}

function reloadWhenIdle(reason: string): void {
  if (hasInput()) {
    setTimeout(() => reloadWhenIdle(reason), CHECK_INTERVAL_MS);
    return;
  }
  isPending = false;
  try {
    const now = Date.now();
    // Absolute, because the clock may have been set back since.
    if (Math.abs(now - Number(sessionStorage.getItem(STORAGE_KEY))) > MIN_INTERVAL_MS) {
      sessionStorage.setItem(STORAGE_KEY, `${now}`);
      location.reload();
      return;
    }
  } catch {
    // The user has blocked the storage: the time of the last reload is unknown.
  }
  console.error(`Missed live updates (${reason}). Reload the page.`);
}

function hasInput(): boolean {
  // An active element that is not HTML has no `isContentEditable`, and no text to enter.
  const active = document.activeElement as HTMLElement | null;
  return active?.isContentEditable || getFields().some(isModified);
}
