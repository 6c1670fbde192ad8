/**
 * How pages spread their requests when many of them get a gap, or lose their connections, at the same time.
 *
 * @see docs/protocol.md 10.5
 */

/**
 * How many pages reload in a second for each process: a fraction of what a core renders, because most pages also read a
 * database, and the process has other work.
 */
const RELOADS_PER_SECOND = 250;
const MIN_RELOAD_WINDOW_MS = 3_000;
const MAX_RELOAD_WINDOW_MS = 120_000;

/** How many clients reconnect in a second for each process. */
const RECONNECTS_PER_SECOND = 2_000;
const MIN_RECONNECT_WINDOW_MS = 5_000;
const MAX_RECONNECT_WINDOW_MS = 60_000;

/** The shortest time after which a client reconnects. */
const MIN_RETRY_MS = 1_000;

/**
 * Returns the time in which pages that get a gap reload, in milliseconds; undefined for the shortest one, which pages know.
 *
 * @param pages how many pages of this process get the gap at the same time
 */
export function reloadWindowMs(pages: number): number | undefined {
  const windowMs = Math.min(MAX_RELOAD_WINDOW_MS, Math.ceil((pages / RELOADS_PER_SECOND) * 1_000));
  return windowMs > MIN_RELOAD_WINDOW_MS ? windowMs : undefined;
}

/** Returns the time in which the clients of this process reconnect, in milliseconds. */
export function reconnectWindowMs(connections: number): number {
  const windowMs = Math.ceil((connections / RECONNECTS_PER_SECOND) * 1_000);
  return Math.min(MAX_RECONNECT_WINDOW_MS, Math.max(MIN_RECONNECT_WINDOW_MS, windowMs));
}

/** Returns a random number of milliseconds after which one of so many clients reconnects. */
export function retryMs(connections: number): number {
  return Math.round(MIN_RETRY_MS + Math.random() * (reconnectWindowMs(connections) - MIN_RETRY_MS));
}

/** Returns whether clients that connected earlier reconnect too soon now: when many have connected since. */
export function isRetryOutdated(connections: number): boolean {
  return reconnectWindowMs(connections) > MIN_RECONNECT_WINDOW_MS;
}
