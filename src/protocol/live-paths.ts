/**
 * Paths of live updates. Used by the server, the browser and `tsweb/testing`. They are apart from the other paths,
 * because only pages with live updates load this file.
 */

/** The path of the event stream, below the application's base. @see docs/protocol.md 10.5 */
export const LIVE_PATH = "/__web/live";

/** The path of the poll, below the application's base. @see docs/protocol.md 10.6 */
export const POLL_PATH = "/__web/poll";
