/**
 * The value of the parameter that names the function of a form which is sent without script.
 *
 * @see docs/protocol.md 15.1
 */

/** What the parameter of a form says. */
export interface FormParameter {
  /** The function that is called. */
  readonly name: string;
  /** The build of the page and the hash of the function. Absent in development. @see docs/protocol.md 3.9 */
  readonly version: string | undefined;
  /** The function of the form's `action`: another one if the button that sends the form has a `formAction`. */
  readonly action: string;
}

/** Reads the decoded value of the parameter. Names contain neither a dot nor a colon. */
export function readFormParameter(value: string): FormParameter {
  const [target = "", form] = value.split(":");
  const [name = "", ...version] = target.split(".");
  return { name, version: version.length > 0 ? version.join(".") : undefined, action: form ?? name };
}
