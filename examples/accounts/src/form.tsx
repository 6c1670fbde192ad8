/**
 * What the forms share: a field with its error, the button, and the way from one to the other.
 */
import { on_mount, RPCError, state } from "tsweb/browser";
import type { JSX } from "tsweb/jsx-runtime";

/** What a form shows beside what was typed into it. */
export interface Form {
  /** Whether the script has arrived; before, the form cannot be sent. */
  ready: boolean;
  /** Whether a call is under way. */
  busy: boolean;
  /** What is wrong, by the name of the field; under "": with none of them. */
  errors: Record<string, string>;
}

/** Gives a view its form. */
export function useForm(): Form {
  const form = state<Form>({ ready: false, busy: false, errors: {} });
  on_mount(() => {
    form.ready = true;
  });
  return form;
}

/**
 * Sends a form: checks its fields, makes the call, and shows what either finds wrong, with the
 * focus on the first field that is.
 */
export async function send(
  form: Form,
  element: HTMLFormElement,
  call: (values: Record<string, string>) => Promise<void>,
): Promise<void> {
  if (form.busy) return;
  const fields = [...element.elements].filter((field) => field instanceof HTMLInputElement);
  const invalid = fields.filter((field) => !field.validity.valid);
  form.errors = Object.fromEntries(invalid.map((field) => [field.name, field.validationMessage]));
  if (invalid.length === 0) {
    form.busy = true;
    try {
      await call(Object.fromEntries(fields.map((field) => [field.name, field.value])));
    } catch (error) {
      form.errors = errorsOf(error, fields);
    }
    form.busy = false;
  }
  fields.find((field) => form.errors[field.name])?.focus();
}

/** Puts an error with the field that its details name. What is not meant for people is said in other words. */
function errorsOf(error: unknown, fields: readonly HTMLInputElement[]): Record<string, string> {
  if (!(error instanceof RPCError) || error.code === "internal") return { "": "That did not work. Please try again." };
  const field = fields.find(({ name }) => name === error.details.parameter);
  return { [field?.name ?? ""]: error.message };
}

/** What any input takes, and what stands around it. */
type FieldProps = JSX.IntrinsicElements["input"] & {
  readonly of: Form;
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
};

/** A labelled input; its hint and its error are read out with it. */
export function Field({ of: form, label, hint, ...input }: FieldProps) {
  const { name } = input;
  const error = form.errors[name];
  const described = [hint && `${name}-hint`, error && `${name}-error`].filter(Boolean).join(" ");
  return (
    <div class="field">
      <label for={name}>{label}</label>
      {hint && (
        <p class="hint" id={`${name}-hint`}>
          {hint}
        </p>
      )}
      {/* Not tied to state: what a password manager typed before the script came must stay. */}
      <input
        {...input}
        id={name}
        required
        aria-invalid={error ? "true" : undefined}
        aria-describedby={described || undefined}
        onInput={() => {
          form.errors[name] = "";
        }}
      />
      <p class="error" id={`${name}-error`} role="alert">
        {error}
      </p>
    </div>
  );
}

/**
 * The button, with what is wrong with the form as a whole above it.
 *
 * Until the script is there it is disabled, so that nothing typed leaves the page by the browser's
 * own way of sending. During a call it is only called disabled: really so, it would lose the focus.
 */
export function Submit({
  of: form,
  label,
  busy,
}: {
  readonly of: Form;
  readonly label: string;
  readonly busy: string;
}) {
  return (
    <>
      <p class="error" role="alert">
        {form.errors[""]}
      </p>
      <button type="submit" disabled={!form.ready} aria-disabled={form.busy || undefined}>
        {form.busy ? busy : label}
      </button>
      <noscript>
        <p class="hint">This form needs JavaScript, which is switched off in your browser.</p>
      </noscript>
    </>
  );
}
