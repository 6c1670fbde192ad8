/**
 * Throws for an option that does not exist. A misspelled `auth_requird` would otherwise leave a function open to
 * everybody, and a misspelled `strct` its arguments unchecked.
 *
 * @param validOptions all valid options. Type it as `Record<keyof Options, true>`, so that the compiler reports a missing one.
 * @param location where the options are, for the message: `new App`
 * @throws TypeError that names the unknown option and lists the valid ones, or if `options` is not an object
 */
export function rejectUnknownOptions(
  options: unknown,
  validOptions: Readonly<Record<string, true>>,
  location: string,
): asserts options is object {
  if (typeof options !== "object" || options === null) {
    throw new TypeError(
      `The options of ${location} must be an object, for example {}. Received: ${typeName(options)}.`,
    );
  }
  const unknown = Object.keys(options).find((option) => !Object.hasOwn(validOptions, option));
  if (unknown === undefined) return;
  throw new TypeError(
    `Unknown option ${unknown} in ${location}. Valid options: ${Object.keys(validOptions).join(", ")}.`,
  );
}

function typeName(value: unknown): string {
  return value === null ? "null" : typeof value;
}
