import type { PrefetchedPages, RequestContext } from "../http/index.ts";
import { clientKey, concurrencyLimit } from "../rate-limit/index.ts";
import { pageTag } from "../session/index.ts";

/** How many pages a client may prefetch at once. Chromium prefetches two for a document, and an office has one address. */
const MAX_PER_CLIENT = 16;

/** How long a browser may show a page after it was prefetched, in milliseconds: Chromium 5 minutes, and some for the way. */
const SHOWN_MS = 330_000;

/** How many clients are remembered. */
const MAX_CLIENTS = 10_000;

/** Whether a client has pages that it may still show, and until when. */
interface Mark {
  readonly isHeld: boolean;
  readonly untilMs: number;
}

/** The options of {@link Prefetches}. */
export interface PrefetchesOptions {
  /** Whether other processes may have served the prefetches of a client. */
  readonly hasOtherProcesses: () => boolean;
  /** The current time in milliseconds. Default: `performance.now`. */
  readonly now?: () => number;
}

/**
 * Remembers which clients have prefetched pages, so that the response to a call clears them, and only the first one: each such
 * response prints a line in the console of the browser. A mark in the browser is not possible: a cookie that changes makes Chromium
 * drop the pages that it keeps for Back.
 *
 * A client is its sign-in, and without one its address, which others may share: then each call clears.
 */
export class Prefetches implements PrefetchedPages {
  readonly #hasOtherProcesses: () => boolean;
  readonly #now: () => number;
  readonly #inFlight = concurrencyLimit(MAX_PER_CLIENT);
  readonly #marks = new Map<string, Mark>();
  /** Until when an unknown client may hold pages: of the process before this one, or from before it was forgotten. */
  #unknownUntilMs: number;

  constructor({ hasOtherProcesses, now = () => performance.now() }: PrefetchesOptions) {
    this.#hasOtherProcesses = hasOtherProcesses;
    this.#now = now;
    this.#unknownUntilMs = now() + SHOWN_MS;
  }

  /** The number of clients that are remembered. */
  get size(): number {
    return this.#marks.size;
  }

  /** Counts a prefetch of a client, and returns what ends it; `null` if the client has too many. */
  acquire(address: string): (() => void) | null {
    return this.#inFlight.acquire(address);
  }

  /** Remembers that a client receives a prefetched page. */
  served(context: RequestContext): void {
    if (!this.#hasOtherProcesses()) this.#mark(keyOf(context), { isHeld: true, untilMs: this.#now() + SHOWN_MS });
  }

  /** Returns whether a client may hold prefetched pages. If it is signed in, it is known not to hold them afterwards. Errs towards yes. */
  take(context: RequestContext): boolean {
    if (this.#hasOtherProcesses() || this.#inFlight.has(context.address)) return true;
    const now = this.#now();
    const key = keyOf(context);
    const mark = this.#marks.get(key);
    const isKnown = mark !== undefined && mark.untilMs > now;
    const isHeld = isKnown ? mark.isHeld : this.#unknownUntilMs > now;
    if (isHeld && !isAddress(key)) this.#mark(key, { isHeld: false, untilMs: now + SHOWN_MS });
    return isHeld;
  }

  #mark(key: string, mark: Mark): void {
    this.#marks.delete(key);
    this.#marks.set(key, mark); // at the end
    if (this.#marks.size <= MAX_CLIENTS) return;
    const [oldest, { isHeld, untilMs }] = this.#marks.entries().next().value ?? [key, mark];
    this.#marks.delete(oldest);
    if (isHeld) this.#unknownUntilMs = Math.max(this.#unknownUntilMs, untilMs);
  }
}

/** Returns the tag of the client's sign-in, or `@` and its address. */
function keyOf(context: RequestContext): string {
  return pageTag(context) ?? `@${clientKey(context.address)}`;
}

function isAddress(key: string): boolean {
  return key.startsWith("@");
}
