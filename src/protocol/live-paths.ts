// Apart from the other paths, because only pages with live updates load this file.

/** The path of the live event stream. */
export const LIVE_PATH = "/__web/live";

/** The path of a live poll. */
export const POLL_PATH = "/__web/poll";
