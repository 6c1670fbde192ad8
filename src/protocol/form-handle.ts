import type { RPCError } from "../errors.ts";
import type { FieldValues } from "./form.ts";

/** What the attributes `action` and `formAction` accept of a server function. A stream has another type. */
export interface FormFunction<R = unknown> {
  // `never` accepts functions with any parameters: their values are the fields of the form.
  (...args: never[]): Promise<R>;
  named(args: Readonly<Record<string, unknown>>): Promise<R>;
}

/** The state of a form, which `form(fn)` returns. Pass it as the `action` of a `<form>`. */
export interface FormHandle<R = unknown> {
  /** What was typed into the form that was sent, by field. Never passwords. Empty if it was not sent. */
  readonly values: FieldValues;
  /** Why the form was refused. */
  readonly error: RPCError | undefined;
  /** The messages about fields, by the name of the field. */
  readonly errors: Readonly<Record<string, string | undefined>>;
  /** The result of the function. */
  readonly result: R | undefined;
}

/** The state of a form in a view. A change renders the component again. */
export interface ViewFormHandle<R = unknown> extends FormHandle<R> {
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
