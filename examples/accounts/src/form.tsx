/** The parts that all forms share: a field with its error, the submit button, and the submission. */
import { RPCError, state, type TargetedEvent } from "tsweb/browser";
import type { JSX } from "tsweb/jsx-runtime";

/** The state of a form, without the values of its fields. */
export interface FormState {
  /** Whether a call is in progress. */
  isBusy: boolean;
  /** Error messages by field name. The key "" has the message that belongs to no field. */
  errors: Record<string, string>;
}

/** Returns the state of a form, for use in a view. */
export function createForm(): FormState {
  return state<FormState>({ isBusy: false, errors: {} });
}

/**
 * Calls a function with the values of a form that the browser has validated. If the call fails, shows the message at
 * the field it belongs to, and focuses that field.
 */
export async function submitForm(
  form: FormState,
  event: TargetedEvent<HTMLFormElement, Event>,
  call: (values: Record<string, string>) => Promise<void>,
): Promise<void> {
  event.preventDefault();
  if (form.isBusy) return;
  const element = event.currentTarget;
  form.isBusy = true;
  try {
    await call(Object.fromEntries(new FormData(element)) as Record<string, string>); // None of the forms has a file field.
  } catch (error) {
    const [name, message] = describeError(error);
    const field = element.querySelector<HTMLElement>(`[name="${name}"]`);
    form.errors = { [field ? name : ""]: message };
    field?.focus();
  }
  form.isBusy = false;
}

/** Returns the field name of an error, and a message for the user. Unexpected errors get a general message. */
function describeError(error: unknown): [string, string] {
  if (!(error instanceof RPCError) || error.code === "internal") return ["", "That did not work. Try again."];
  return [`${error.details.parameter}`, error.message];
}

/** The attributes of an input, and the properties of the field around it. */
type FieldProps = JSX.IntrinsicElements["input"] & {
  readonly formState: FormState;
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
};

/** An input with a label and an error. Screen readers read the error with the input. */
export function Field({ formState, label, hint, ...input }: FieldProps) {
  const { name } = input;
  const error = formState.errors[name];
  return (
    <div class="field">
      <label for={name}>
        {label} <small>{hint}</small>
      </label>
      {/* Uncontrolled, so that the values that a password manager fills in before hydration are kept. */}
      <input
        {...input}
        id={name}
        required
        aria-invalid={!!error}
        aria-describedby={`${name}-error`}
        onInput={() => {
          formState.errors = {};
        }}
      />
      <p class="error" id={`${name}-error`} role="alert">
        {error}
      </p>
    </div>
  );
}

/**
 * The submit button, below the error that belongs to no field.
 *
 * Until the view is hydrated the button is disabled, so that the browser cannot submit the form itself. During a call
 * it only has `aria-disabled`, since a disabled button would lose the focus.
 */
export function Submit({
  formState,
  label,
  busyLabel,
}: {
  readonly formState: FormState;
  readonly label: string;
  /** The label during a call. */
  readonly busyLabel: string;
}) {
  return (
    <>
      <p class="error" role="alert">
        {formState.errors[""]}
      </p>
      <button type="submit" disabled ref={enable} aria-disabled={formState.isBusy || undefined}>
        {formState.isBusy ? busyLabel : label}
      </button>
    </>
  );
}

/** Enables the button when the view is hydrated. */
const enable = (button: HTMLButtonElement | null) => button?.removeAttribute("disabled");
