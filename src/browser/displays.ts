/** What a page shows and the server keeps current: who is present in a channel, or the value of a query. */
import { callSafely } from "./lifecycle.ts";
import { restart, watchPage } from "./live.ts";
import { type Display, extras } from "./live-listeners.ts";
import { reload } from "./reload.ts";

/** All displays of the page. Module state, as the connection, which they extend. */
export const displays = new Set<Display>();

extras.displays = displays;
extras.complete = ({ tokens }) => {
  for (const { member, token } of displays) tokens[member] = [...new Set(tokens[member]).add(token)];
  return displays.size;
};
extras.receive = ({ channel, event, content }) => {
  for (const display of displays) {
    // The key of the tokens has changed. The application sends this status to polls only.
    if (event === "403") reload();
    if (display.event === event && display.key === channel) callSafely(() => display.frame(content));
  }
};
/** Requests what a display shows. */
export function addDisplay(display: Display): void {
  displays.add(display);
  watchPage();
  restart();
}

/** Ends a display, if it is there. */
export function removeDisplay(display: Display): void {
  if (displays.delete(display)) restart();
}
