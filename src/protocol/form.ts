/**
 * What browser and server must agree on about forms. Used by the server, the compile step, the browser and the client.
 *
 * @see docs/protocol.md 15
 */

import type { ComponentChildren, VNode } from "preact";
import type { RPCError } from "../errors.ts";
import type { Arguments, ErrorBody } from "./call.ts";

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

/**
 * The field of a call with files that carries all other arguments: a JSON object, by the name of the parameter. The
 * files follow it, each in the field of its parameter.
 */
export const ARGUMENTS_FIELD = "__args";

/**
 * Returns whether a value is a `Blob` or a `File`, of any implementation: packages replace the global classes, so that
 * `instanceof` would not recognize all of them.
 */
export function isBlob(value: unknown): value is Blob {
  const { arrayBuffer, slice } = (value ?? {}) as Partial<Blob>; // any value can be read like this
  return typeof arrayBuffer === "function" && typeof slice === "function";
}

/** Returns the body of a call whose arguments contain files; `null` if they contain none. @see docs/protocol.md 15.7 */
export function toFormData(args: Arguments): FormData | null {
  const form = new FormData();
  const others: Record<string, unknown> = {};
  const files: (readonly [name: string, file: Blob])[] = [];
  for (const [name, value] of Object.entries(args)) {
    const list: readonly unknown[] = Array.isArray(value) && value.length > 0 ? value : [value];
    if (list.every(isBlob)) for (const file of list) files.push([name, file]);
    else others[name] = value;
  }
  form.append(ARGUMENTS_FIELD, JSON.stringify(others));
  for (const [name, file] of files) form.append(name, file);
  return files.length > 0 ? form : null;
}

/** What the attributes `action` and `formAction` accept of a server function. A stream has another type. */
export interface FormFunction<R = unknown> {
  // `never` accepts functions with any parameters: their values are the fields of the form.
  (...args: never[]): Promise<R>;
  named(args: Readonly<Record<string, unknown>>): Promise<R>;
}

/** Types that a field of a form has as a whole. */
type FieldType = string | number | bigint | boolean | symbol | null | undefined | Blob | Date;

/** The dotted names of the members of a type, to a depth of five. */
type MemberName<T, Depth extends readonly unknown[] = []> = Depth["length"] extends 5
  ? string
  : T extends FieldType
    ? never
    : T extends readonly (infer Item)[]
      ? `${number}` | `${number}.${MemberName<Item, [...Depth, Item]>}`
      : { [K in keyof T & string]-?: K | `${K}.${MemberName<T[K], [...Depth, K]>}` }[keyof T & string];

/**
 * The names of the fields of a function's form, as far as its type has them: those of the members of its only parameter, which is
 * an object. They follow the name of the parameter if it is not destructured. The names of other parameters are not part of a type.
 */
export type FieldName<F> = F extends (...args: infer A) => unknown
  ? Required<A> extends readonly [infer Only]
    ? 0 extends 1 & Only
      ? string
      : Only extends object
        ? [MemberName<Only>] extends [never]
          ? string
          : MemberName<Only> | `${string}.${MemberName<Only>}`
        : string
    : string
  : string;

/** What was typed, by the names of the fields. */
type ValuesOf<Field extends string> = string extends Field
  ? FieldValues
  : { readonly [F in Field]?: string | readonly string[] };

/** The state of a form, which `form(fn)` returns. Pass it as the `action` of a `<form>`. */
export interface FormHandle<R = unknown, Field extends string = string> {
  /** What was typed into the form that was sent, by field. Never passwords. Empty if it was not sent. */
  readonly values: ValuesOf<Field>;
  /** Why the form was refused. */
  readonly error: RPCError | undefined;
  /** The messages about fields, by the name of the field. */
  readonly errors: Readonly<Record<Field, string | undefined>>;
  /** The result of the function. */
  readonly result: R | undefined;
}

/** The state of a form in a view. A change renders the component again. */
export interface ViewFormHandle<R = unknown, Field extends string = string> extends FormHandle<R, Field> {
  /** Whether the form is being sent. */
  readonly pending: boolean;
  /** The part of the form that has been sent, from 0 to 1. */
  readonly progress: number;
  /** Clears the state, and sets the fields to their defaults. */
  reset(): void;
}

/** The options of `form(fn, options)`. */
export interface FormOptions {
  /** Distinguishes several forms of one function in a page. It is sent with the form. */
  readonly key?: string | number;
}

/** How a form was answered that a view has sent: its result, or why it was refused. */
export interface FormOutcome<R = unknown> {
  /** The result of the function; `undefined` if the form was refused, and for nothing. */
  readonly result: R | undefined;
  readonly error: RPCError | undefined;
  /** What was sent. */
  readonly data: FormData;
}

/** The options of `form(fn, options)` in a view. */
export interface ViewFormOptions<R = unknown> extends FormOptions {
  /** Called in the browser each time that the form was sent and answered, after the state has changed. Not after a reset. */
  readonly done?: (outcome: FormOutcome<R>) => void;
}

/** Creates an element, as Preact's `h`. It is passed, because this folder imports only types of Preact. */
type CreateElement = (type: string, props: Record<string, unknown> | null, ...children: ComponentChildren[]) => VNode;

/** The parts of the head of a form. */
export interface FormHead {
  readonly name: string;
  /** The key of the form; empty without one. */
  readonly key: string;
  /** The CSRF token; `null` if CSRF tokens are not configured. */
  readonly csrfToken: string | null;
  /** The error to summarise; `null` without one, and if the form has a handle, which shows it itself. */
  readonly error: { readonly message: string } | null;
  readonly errors: FieldErrors;
}

/**
 * Returns what precedes the children of a form: the hidden fields, then the summary of the errors. The server and the
 * browser both render it with this function, so that a view is hydrated without differences.
 *
 * @see docs/protocol.md 15.5
 */
export function formHead(h: CreateElement, { name, key, csrfToken, error, errors }: FormHead): VNode[] {
  const head: VNode[] = [];
  if (csrfToken !== null) head.push(hiddenField(h, CSRF_FIELD, csrfToken));
  if (key !== "") head.push(hiddenField(h, KEY_FIELD, key));
  if (error) head.push(errorSummary(h, { name, key, error, errors }));
  return head;
}

function hiddenField(h: CreateElement, name: string, value: string): VNode {
  return h("input", { type: "hidden", name, value });
}

function errorSummary(h: CreateElement, { name, key, error, errors }: Omit<FormHead, "csrfToken">): VNode {
  const fields = Object.entries(errors);
  // The first refused field has the focus. Without one, the summary has it.
  const props = {
    class: "form-errors",
    role: "alert",
    tabindex: -1,
    ...(fields.length > 0 ? {} : { autofocus: true }),
  };
  if (fields.length === 0) return h("div", props, h("p", null, error?.message));
  const items = fields.map(([field, message]) =>
    h("li", { id: fieldErrorId(name, key, field) }, `${fieldLabel(field)}: ${message}`),
  );
  return h("div", props, h("ul", null, items));
}

/**
 * Returns the id of the message of a field in the summary of a form. The field refers to it by `aria-describedby`,
 * whose ids are separated by spaces: the id has none.
 */
export function fieldErrorId(name: string, key: string, field: string): string {
  return [name, key, field, "error"].filter(Boolean).map(encodeURIComponent).join("-");
}

/** Returns the name of a field for users: `billing_address.zipCode` is `Billing address zip code`. */
function fieldLabel(field: string): string {
  const words = field
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, "$1 $2")
    .replace(/[._\s-]+/g, " ")
    .trim()
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
