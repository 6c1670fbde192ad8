/** The parts of the forms: a field with its error, and the error that belongs to no field. */
import type { FormHandle } from "tsweb";
import type { JSX } from "tsweb/jsx-runtime";

/** The attributes of an input, and the properties of the field around it. */
type FieldProps = JSX.IntrinsicElements["input"] & {
  /** The state of the form, which has the error. tsweb also fills in what was typed, and focuses an invalid field. */
  readonly handle: FormHandle;
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  /** The error below the field. By default it is that of the form. */
  readonly error?: string | undefined;
};

/** An input with a label and an error. Screen readers read the error with the input. */
export function Field({ handle, name, label, hint, error = handle.errors[name], ...input }: FieldProps) {
  const hasError = error !== undefined;
  return (
    <div class="field">
      <label for={name}>
        {label} <small>{hint}</small>
      </label>
      <input
        {...input}
        id={name}
        name={name}
        required
        aria-describedby={`${name}-error`}
        aria-invalid={hasError || undefined}
        // biome-ignore lint/a11y/noAutofocus: the page responds to the form, and the error is what has changed
        autoFocus={hasError}
      />
      <p class="error" id={`${name}-error`}>
        {error}
      </p>
    </div>
  );
}

/** The error of a form that belongs to no field. It has the focus, so that screen readers read it. */
export function FormError({ handle: { error, errors } }: { readonly handle: FormHandle }) {
  if (!error || Object.keys(errors).length > 0) return null;
  return (
    // biome-ignore lint/a11y/noAutofocus: the page responds to the form, and the error is what has changed
    <p class="error" role="alert" tabIndex={-1} autoFocus>
      {error.message}
    </p>
  );
}

/** The form with which a user requests a link. The mail with the link goes to the address, if it is registered. */
export function LinkRequest({ handle }: { readonly handle: FormHandle }) {
  return (
    <>
      <form action={handle}>
        <Field handle={handle} name="email" label="Email address" type="email" autoComplete="email" maxLength={254} />
        <FormError handle={handle} />
        <button type="submit">Send me a link</button>
      </form>
      <p class="hint">This is an example without a mail server: it writes the mail to its log.</p>
    </>
  );
}

/** What follows the request for a link, whether or not the address is registered. */
export function LinkSent({ minutes, again }: { readonly minutes: number; readonly again: string }) {
  return (
    <section class="card">
      <h1>Look at your mail</h1>
      <p>If the address is registered, a link is on its way. It is valid for {minutes} minutes.</p>
      <p class="aside">
        No mail? <a href={again}>Ask for another link</a>
      </p>
    </section>
  );
}
