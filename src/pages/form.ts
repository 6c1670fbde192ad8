import { rejectUnknownOptions } from "../config/index.ts";
import { createFormHandle } from "../forms/index.ts";
import type { FieldName, FormFunction, FormHandle, FormOptions } from "../protocol/index.ts";

/**
 * Returns the state of a form of a server function in a page: what was typed, and why it was refused. Pass it as the
 * `action` of a `<form>`. The form then shows no summary of its errors, since the page shows them.
 *
 * The state is that of the current request. It is empty, unless the request has sent this form.
 *
 * @param options `key` tells several forms of one function apart: an id of the item that the form is about
 * @throws TypeError for a value that is not a server function, for a stream, and for an unknown option
 * @see docs/protocol.md 15.5
 * @example
 * const signUp = form(register);
 * return <form action={signUp}><input name="email" /><p>{signUp.errors.email}</p><button>Register</button></form>;
 */
export function form<F extends FormFunction>(
  fn: F,
  options: FormOptions = {},
): FormHandle<Awaited<ReturnType<F>>, FieldName<F>> {
  rejectUnknownOptions(options, OPTIONS, "form()");
  // The result and the names of the fields are those of the function.
  return createFormHandle(fn, options) as unknown as FormHandle<Awaited<ReturnType<F>>, FieldName<F>>;
}

const OPTIONS: Readonly<Record<keyof FormOptions, true>> = { key: true };
