/** What a call waits for in a page with live updates. Loaded with the first response that names messages. */
import { type isLater, PUBLISHED_HEADER } from "../protocol/index.ts";
import type { Display, Extras, Listener } from "./live-listeners.ts";
import { LANDING_MS } from "./timings.ts";

/**
 * What this module uses of its page. The page passes it, because an import of the page's modules would divide its script. It is a
 * tuple, as that of live-tabs.ts.
 */
export type LandingPage = readonly [
  response: Response,
  compare: typeof isLater,
  listeners: Set<Listener>,
  extras: Extras,
  /** The last attempt of this page to connect. */
  attempt: AbortController | undefined,
  /** The other tabs. */
  sharing: { readonly isFollower: boolean } | undefined,
];

/**
 * Resolves when the page has received the messages that a call has published, and the values of queries that are at least as new;
 * or after two seconds. What the page does not listen to is not waited for, nor anything without a connection.
 */
export async function land([response, isLater, listeners, extras, attempt, sharing]: LandingPage): Promise<void> {
  if (attempt?.signal.aborted && !sharing?.isFollower) return;
  const targets = `${response.headers.get(PUBLISHED_HEADER)}`.split(",").map((item) => item.split("="));
  const displays = extras.displays ?? new Set<Display>();
  const { tags = {} } = extras;
  // A listener of another tab has no handler.
  const isMissing = ({ handler, channel, position }: Listener) =>
    handler && targets.some(([tag = "", target = ""]) => tags[tag] === channel && isLater(target, position));
  const isOlder = ({ token }: Display) =>
    targets.some(([tag = "", target = ""]) => isLater(target, positionIn(token, tag) ?? target));

  await new Promise<void>((resolve) => {
    const added = new Set<Listener | Display>();

    function end(): void {
      for (const item of added) if (!listeners.delete(item as Listener)) displays.delete(item as Display); // one of both has it
      resolve();
    }

    /** Checks after all others have received what has just arrived. */
    function check(): void {
      queueMicrotask(() => {
        if (![...listeners].some(isMissing) && ![...displays].some(isOlder)) end();
      });
    }

    // Beside those of the page, and behind them: they receive the same.
    for (const listener of [...listeners].filter(isMissing)) {
      const copy: Listener = { ...listener, handler: check, gap: check };
      listeners.add(copy);
      added.add(copy);
    }
    for (const display of [...displays].filter(isOlder)) {
      const copy: Display = Object.create(display, { frame: { value: check } });
      displays.add(copy);
      added.add(copy);
    }
    setTimeout(end, LANDING_MS);
    check();
  });
}

/** Returns the position of a channel in the version of a token, by its tag. The positions are behind the first `_`, or a comma. */
function positionIn(token: string, tag: string): string | undefined {
  return (token.split(`_${tag}=`)[1] ?? token.split(`,${tag}=`)[1])?.split(",")[0];
}
