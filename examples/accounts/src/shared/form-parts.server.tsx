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
