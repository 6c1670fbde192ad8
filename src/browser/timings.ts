/**
 * The times and limits of the code in the browser. Bundlers write the values of constants from other modules into the code
 * that uses them, but keep a variable for those of the same module: pages are smaller this way.
 */

/** The longest random delay before a reload, so that not all pages reload at once. */
export const MAX_RELOAD_DELAY_MS = 3_000;
/** The interval of checks whether the page can be reloaded. */
export const RELOAD_CHECK_MS = 1_000;
/** How long a page is shown after a reload before it is reloaded again, so that a lasting cause does not lead to a loop. */
export const MIN_RELOAD_INTERVAL_MS = 30_000;

/** How often a call is sent again that has met a server of an older build: for 10 seconds. */
export const MAX_STALE_RETRIES = 20;
/** The time between two of these attempts. */
export const STALE_RETRY_MS = 500;

/**
 * How long a call or stream that fails while the page is being left is not reported. Firefox ends the requests of a
 * page when the next one is requested, and shows the page until its response arrives.
 */
export const LEAVING_MS = 10_000;

/** How long a page that was restored waits for the server before it takes input. */
export const RESTORE_TIMEOUT_MS = 5_000;

/** The server sends data as soon as an event stream is open. */
export const OPEN_TIMEOUT_MS = 10_000;
/** The server pings every 20 seconds, and a poll waits for 25: a connection that is idle for longer is broken. */
export const IDLE_TIMEOUT_MS = 45_000;
/** How long to poll before the event stream is tried again. */
export const POLLING_MS = 60_000;
/** The longest delay before an attempt, and the poll interval while the event stream is released. */
export const MAX_DELAY_MS = 30_000;
/** The longest delay after a poll, and the base of the delay after one that has failed. After an event stream, it is the server's `retry`. */
export const POLL_PAUSE_MS = 1_000;
export const POLL_RETRY_MS = 500;
/** The least time between two states that a page sends, and after one that the server has not taken. */
export const PRESENCE_MS = 100;
export const PRESENCE_RETRY_MS = 1_000;
/** How long a call waits for the messages that it has published, and a value for the calls whose changes it shows. */
export const LANDING_MS = 2_000;
/** How long a page is hidden before it releases its event stream. Switching between tabs takes less time. */
export const HIDDEN_MS = 2_000;

/** The interval of the heartbeats of the tab that has the connection, to the tabs that share it. */
export const HEARTBEAT_MS = 2_000;
/** How long that tab may be silent before a visible one replaces it. */
export const SILENCE_MS = 5_000;
/** Changes by other tabs within this time cause one request. */
export const MERGE_MS = 50;
