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
