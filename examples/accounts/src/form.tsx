/**
 * What the forms share: a field with its error, the button, and the way from one to the other.
 */
import { RPCError, state, type TargetedEvent } from "tsweb/browser";
import type { JSX } from "tsweb/jsx-runtime";

/** What a form shows beside what was typed into it. */
export interface Form {
  /** Whether a call is under way. */
  busy: boolean;
  /** What is wrong, by the name of the field; under "": with none of them. */
  errors: Record<string, string>;
}

/** Gives a view its form. */
export function useForm(): Form {
  return state<Form>({ busy: false, errors: {} });
}

/**
 * Sends a form, which the browser has checked, and shows what the call finds wrong, with the focus
 * on the field that it is about.
 */
export async function send(
  form: Form,
  event: TargetedEvent<HTMLFormElement, Event>,
  call: (values: Record<string, string>) => Promise<void>,
): Promise<void> {
  event.preventDefault();
  if (form.busy) return;
  const element = event.currentTarget;
  form.busy = true;
  try {
    await call(Object.fromEntries(new FormData(element)) as Record<string, string>); // no field holds a file
  } catch (error) {
    const [name, message] = reason(error);
    const field = element.querySelector<HTMLElement>(`[name="${name}"]`);
    form.errors = { [field ? name : ""]: message };
    field?.focus();
  }
  form.busy = false;
}

/** Gives the field that an error is about and what to say. What is not meant for people is said in other words. */
function reason(error: unknown): [string, string] {
  if (!(error instanceof RPCError) || error.code === "internal") return ["", "That did not work. Try again."];
  return [`${error.details.parameter}`, error.message];
}

/** What any input takes, and what stands around it. */
type FieldProps = JSX.IntrinsicElements["input"] & {
  readonly of: Form;
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
};

/** A labelled input; its error is read out with it. */
export function Field({ of: form, label, hint, ...input }: FieldProps) {
  const { name } = input;
  const error = form.errors[name];
  return (
    <div class="field">
      <label for={name}>
        {label} <small>{hint}</small>
      </label>
      {/* Not tied to state: what a password manager typed before the script came must stay. */}
      <input
        {...input}
        id={name}
        required
        aria-invalid={!!error}
        aria-describedby={`${name}-error`}
        onInput={() => {
          form.errors = {};
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
      <button type="submit" disabled ref={enable} aria-disabled={form.busy || undefined}>
        {form.busy ? busy : label}
      </button>
    </>
  );
}

/** Runs once the script has brought the button to life. */
const enable = (button: HTMLButtonElement | null) => button?.removeAttribute("disabled");
