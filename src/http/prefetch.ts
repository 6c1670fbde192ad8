import { currentContext } from "./context-storage.ts";
import { ContextKey } from "./context-values.ts";
import type { RequestContext } from "./request-context.ts";
import { RequestError } from "./request-error.ts";

/** Returns whether a browser requests the document before a link to it is clicked. @see docs/protocol.md 11.10 */
export function isPrefetch({ inbound }: Pick<RequestContext, "inbound">): boolean {
  const purpose = inbound.header("sec-purpose");
  return purpose !== null && /^prefetch(?:;|$)/.test(purpose);
}

/** What an application knows of the pages that browsers have prefetched. */
export interface PrefetchedPages {
  /** Returns whether a client may hold prefetched pages, of which its response clears the browser. Errs towards yes. */
  take(context: RequestContext): boolean;
}

/** Of the application of the request; absent if it has no speculation rules. */
export const PREFETCHED_PAGES = new ContextKey<PrefetchedPages>();

/**
 * Returns whether the response has to clear the pages that the browser has prefetched: after a request that may have changed
 * something, and after a change of the sign-in. Only browsers send `Sec-Fetch-Mode`.
 *
 * @see docs/protocol.md 11.10
 */
export function clearsPrefetches(context: RequestContext): boolean {
  const { inbound, config } = context;
  const isSafe = context.isRead || inbound.method === "GET" || inbound.method === "HEAD";
  const changesSignIn = context.setsCookie(config.sessionCookie);
  if ((isSafe && !changesSignIn) || inbound.header("sec-fetch-mode") === null) return false;
  const pages = context.get(PREFETCHED_PAGES);
  return pages !== undefined && (pages.take(context) || changesSignIn);
}

/**
 * Refuses an effect in a prefetch: the user has not clicked, and may never do it. The response is 503 then, also if the application
 * catches the error. The browser ignores it, and requests the page at the click. In the rendering of a page for all clients, of which it
 * is not known how often it takes place, an effect is refused as what belongs to one client is.
 *
 * What a request has left running after its response is not refused.
 *
 * @param effect the call, for the message: `session.login()`
 * @throws RequestError 503 in a prefetch
 * @throws Error in a page for all clients
 */
export function refuseEffect(effect: string): void {
  const context = currentContext();
  if (context?.shared) throw context.shared.refuse(effect);
  if (!context || context.hasEnded || !isPrefetch(context)) return;
  throw refusePrefetch(context, effect);
}

/** Makes the response to a prefetch 503, and returns the error. */
export function refusePrefetch(context: RequestContext, effect: string): RequestError {
  const message =
    `${effect} has no effect in a prefetch, with which a browser requests a page before its link is clicked: the response is ` +
    "503, and the click requests the page again.";
  context.unavailable ??= new PrefetchError(message);
  return context.unavailable;
}

/** Thrown for an effect in a prefetch. The development server prints it, with its line. */
export class PrefetchError extends RequestError {
  constructor(message: string) {
    super("internal", message, { status: 503 });
  }
}
