import { RPCError, view } from "tsweb/browser";
import { createForm, Field, Submit, submitForm } from "../form.tsx";
import { enter_code } from "./codes.server.ts";

/** The properties of the field for a code, which three forms have. */
export const CODE_FIELD = {
  name: "code",
  label: "Code",
  hint: "Six digits.",
  inputMode: "numeric",
  autoComplete: "one-time-code",
  pattern: "[0-9 ]{6,7}",
  maxLength: 7,
} as const;

/** Returns the error for a wrong or used code. The app shows the next code within 30 seconds. */
export function wrongCodeError(): RPCError {
  return new RPCError("validation_error", "That code is wrong, or was used. Wait for the next one.", {
    parameter: "code",
  });
}

/** The form for the code of a sign-in. */
export const EnterCode = view(() => {
  const form = createForm();

  const signIn = async ({ code = "" }) => {
    if (!(await enter_code(code))) throw wrongCodeError();
    location.assign("/account");
  };

  return (
    <form method="post" onSubmit={(event) => submitForm(form, event, signIn)}>
      <Field formState={form} {...CODE_FIELD} />
      <Submit formState={form} label="Sign in" busyLabel="Signing in…" />
    </form>
  );
});
