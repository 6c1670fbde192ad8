import { disconnect, releaseStream, resumeStream, retry } from "./live.ts";
import { getNavigation } from "./navigation.ts";
import { HIDDEN_MS } from "./timings.ts";

let isWatching = false;
let hideTimer: ReturnType<typeof setTimeout> | undefined;

/** Connects the live connection to the events of the page: visibility, back/forward cache, network. Once per page. */
export function watchPage(): void {
  if (isWatching) return;
  isWatching = true;
  addEventListener("online", retry);
  addEventListener("pagehide", disconnect);
  // The event is also fired when the page is first shown.
  addEventListener("pageshow", ({ persisted }) => persisted && retry());
  document.addEventListener("visibilitychange", () => handleVisibility(HIDDEN_MS));
  // A page opened in a background tab has no event stream until it is visible.
  handleVisibility(0);
}

function handleVisibility(ms: number): void {
  clearTimeout(hideTimer);
  if (!document.hidden) resumeStream();
  // Over HTTP/1.x a browser has six connections per site, shared by all tabs: six event streams would block every other request.
  else if (getNavigation()?.nextHopProtocol.startsWith("http/1")) hideTimer = setTimeout(releaseStream, ms);
}
