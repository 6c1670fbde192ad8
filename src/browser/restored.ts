import { SESSION_PATH } from "../protocol/index.ts";
import { getPageData } from "./page-data.ts";
import { RESTORE_TIMEOUT_MS } from "./timings.ts";

/** The last event: the page may be left and restored again before the server has answered. */
let last: PageTransitionEvent | undefined;

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
  last = event;
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
  if (event !== last) return;
  body.inert = false;
  (activeElement as HTMLElement | null)?.focus(); // an inert element loses it
}
