/** Names and messages that only development uses, in the browser and on the server. */

/** The path of the panel. Below it are the paths of all that the development server itself serves. */
export const PANEL_PATH = "/__web/dev";

/** The path that responds with the version of the application's files, see `EditVersions`. */
export const EDITS_PATH = "/__web/dev/@tsweb/edits";

/** The same path, with a response that clears the pages that the browser has prefetched. */
export const EDITED_PATH = `${EDITS_PATH}?edited`;

/** The header with the time since the last edit, in milliseconds, of the response with the version of the files. */
export const EDIT_AGE_HEADER = "x-tsweb-edit-age";

/** The header with the time after which an edit must have taken effect, in milliseconds, of the same response. */
export const EDIT_EFFECT_HEADER = "x-tsweb-edit-effect";

/**
 * The event of Vite's WebSocket with which a page reports that it is connected, with its `age`: how long ago it was requested,
 * in milliseconds.
 */
export const CONNECTED_EVENT = "tsweb:connected";

/** The event of Vite's WebSocket with which a page requests messages about violations of its policy, and receives them. */
export const VIOLATIONS_EVENT = "tsweb:policy-violations";

/** The event of Vite's WebSocket with which a page reports an uncaught error. */
export const ERROR_EVENT = "tsweb:error";

/**
 * The event of the window with which a warning is sent to the terminal. The event of Vite's WebSocket with which a page
 * reports it, and receives its text for the console, has the same name.
 */
export const WARNING_EVENT = "tsweb:warning";

/**
 * The event of Vite's WebSocket with which a page reports that the server cannot render it any more, by the id of the
 * request, and with which the server requests that the page is checked again.
 */
export const PAGE_CHECK_EVENT = "tsweb:page-check";

/** The event of the window before Vite's script writes to the console why it could not load an edited module. */
export const UPDATE_FAILURE_EVENT = "tsweb:update-failure";

/**
 * The event of the window before edited components are rendered again, in development. A listener may prevent it, to reload
 * the page instead.
 */
export const VIEWS_UPDATE_EVENT = "tsweb:views-update";

/**
 * The event of the window when a view could not be hydrated, or renders other markup than the server did, in development. Its
 * `detail` is a function that reports the problem. A listener that prevents the event reports it later, or reloads the page.
 */
export const HYDRATION_PROBLEM_EVENT = "tsweb:hydration-problem";

/**
 * Returns the warning about a result of a form that looks like a refusal but that no handle shows; `undefined` for any
 * other result.
 *
 * @param name the name of the function, with its location if that is known
 */
export function returnedErrorMessage(name: string, result: unknown): string | undefined {
  if (typeof result !== "object" || result === null) return undefined;
  const member = ["error", "errors"].find((key) => Boolean(Reflect.get(result, key)));
  if (member === undefined) return undefined;
  return (
    `${name} returned { ${member}: … } to a form, and no form() in the page shows it. To refuse a form, throw: ` +
    'throw new RPCError("validation_error", "…", { parameter: "name" }). To show a result, pass form(fn) as the action, and ' +
    "render its `result`."
  );
}

/**
 * A property of the array of children that are written one after the other in JSX, in development: it is no list, so its
 * elements need no keys. The development runtime of JSX sets it.
 */
export const STATIC_CHILDREN = Symbol.for("tsweb.staticChildren");
