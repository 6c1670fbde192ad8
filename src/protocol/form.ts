/**
 * What browser and server must agree on about forms. Used by the server, the compile step, the browser and the client.
 *
 * @see docs/protocol.md 15
 */
import type { ErrorBody } from "./call.ts";

/** The path to which scripts send the form of a server function: this prefix, followed by its percent-encoded name. */
export const FORM_PREFIX = "/__web/form/";

/** The query parameter of a form that is sent without script: it names the function. */
export const FORM_PARAMETER = "__form";

/** The field that carries the CSRF token. It is the first field of a form. */
export const CSRF_FIELD = "__csrf";

/** The field that carries the key of a form. It tells several forms of one function apart. */
export const KEY_FIELD = "__key";

/** The encoding of all forms. */
export const FORM_TYPE = "multipart/form-data";

/** What was typed into the fields of a form, by field: a list for a parameter that takes one. */
export type FieldValues = Readonly<Record<string, string | readonly string[]>>;

/** The messages of refused fields, by field. The members of objects have dotted names: `address.street`. */
export type FieldErrors = Readonly<Record<string, string>>;

/** One submission of a form that was sent without script, as the response to it shows it. */
export interface FormSubmission {
  /** The name of the function that was called. */
  readonly name: string;
  /** The function of the form's `action`, if the button that sent it has a `formAction` of its own. */
  readonly form: string;
  /** The key of the form; empty without one. */
  readonly key: string;
  /** What was typed, without passwords and files. Empty after a success. */
  readonly values: FieldValues;
  /** Why the submission was refused; `null` if it was not. */
  readonly error: ErrorBody | null;
  /** The messages of the refused fields. */
  readonly errors: FieldErrors;
  /** The result of the function, as JSON has it; `null` without one. */
  readonly result: unknown;
}

/** Returns the messages of an error by field: `details.errors` of the error of a form. */
export function fieldErrors(error: Pick<ErrorBody, "message" | "details">): FieldErrors {
  const { errors, parameter } = error.details;
  if (typeof errors === "object" && errors !== null) {
    return Object.fromEntries(Object.entries(errors).filter(([, message]) => typeof message === "string"));
  }
  return typeof parameter === "string" ? { [parameter]: error.message } : {};
}

/** What the parameter of a form that is sent without script says. @see docs/protocol.md 15.1 */
interface FormParameter {
  /** The function that is called. */
  readonly name: string;
  /** The build of the page and the hash of the function. Absent in development. @see docs/protocol.md 3.9 */
  readonly version: string | undefined;
  /** The function of the form's `action`: another one if the button that sends the form has a `formAction`. */
  readonly action: string;
  /** The key of this rendering of the form of an idempotent function. */
  readonly once: string | undefined;
}

/** Reads the decoded value of the parameter. Names contain neither a dot nor a colon nor a tilde. */
export function readFormParameter(value: string): FormParameter {
  const [address = "", once] = value.split("~");
  const [target = "", form] = address.split(":");
  const [name = "", ...version] = target.split(".");
  return { name, version: version.length > 0 ? version.join(".") : undefined, action: form ?? name, once };
}
