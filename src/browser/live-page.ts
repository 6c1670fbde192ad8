import { comeBack, goAway, leave, retry } from "./live.ts";

/** How long a page is hidden before it gives its stream back: no longer than it takes to leaf through tabs. */
const HIDDEN_MS = 2_000;

let isWatched = false;
let hiding: ReturnType<typeof setTimeout> | undefined;

/** Has the connection follow what becomes of the page: hidden, looked at, put aside, back from there, online again. */
export function followPage(): void {
  if (isWatched) return;
  isWatched = true;
  addEventListener("online", retry);
  addEventListener("pagehide", leave);
  // Every page is shown once, too.
  addEventListener("pageshow", ({ persisted }) => persisted && retry());
  document.addEventListener("visibilitychange", () => look(HIDDEN_MS));
  // Links opened in tabs of their own, out of sight: they have no stream before they are looked at.
  look(0);
}

function look(ms: number): void {
  clearTimeout(hiding);
  if (!document.hidden) comeBack();
  else if (isScarce()) hiding = setTimeout(goAway, ms);
}

/**
 * On HTTP/1.1 a browser has six connections to a site, those of all its tabs together: a stream too
 * many, and no tab can even call.
 */
function isScarce(): boolean | undefined {
  // Of this kind of entry there is one, and it is of this type.
  const [navigation] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  return navigation?.nextHopProtocol.startsWith("http/1");
}
