/** Names and messages that only development uses, in the browser and on the server. */

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
