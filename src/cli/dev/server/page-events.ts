/** The event of Vite's WebSocket with which a page reports an uncaught error. */
export const ERROR_EVENT = "tsweb:error";

/**
 * The event of Vite's WebSocket with which a page reports a warning, and receives its text for the console. The page's
 * window has an event of the same name (`src/browser/dev/report.ts`).
 */
export const WARNING_EVENT = "tsweb:warning";

/** The header with the time since the last edit, in milliseconds, of the response with the version of the files. */
export const EDIT_AGE_HEADER = "x-tsweb-edit-age";

/** The header with the time after which an edit must have taken effect, in milliseconds, of the same response. */
export const EDIT_EFFECT_HEADER = "x-tsweb-edit-effect";

/** The event of the window before Vite's script writes to the console why it could not load an edited module. */
export const UPDATE_FAILURE_EVENT = "tsweb:update-failure";

/**
 * The event of Vite's WebSocket with which a page reports that the server cannot render it any more, by the id of the
 * request, and with which the server requests that the page is checked again.
 */
export const PAGE_CHECK_EVENT = "tsweb:page-check";
