/**
 * Reloads the page with GET. A plain reload of a response to a form would send the form again, and run its function twice.
 * To replace the history entry removes its request body. A fragment in the URL does not prevent the reload.
 */
export function reloadWithGet(): void {
  history.replaceState(history.state, "");
  location.reload();
}
