import { RPCError, view } from "tsweb/browser";
import { Field, Submit, send, useForm } from "../form.tsx";
import { enter_code } from "./codes.server.ts";

/** What a field for a code takes, on every form that has one. */
export const CODE = {
  name: "code",
  label: "Code",
  hint: "Six digits.",
  inputMode: "numeric",
  autoComplete: "one-time-code",
  pattern: "[0-9 ]{6,7}",
  maxLength: 7,
} as const;

/** Says that a code is wrong. One that was used is, too: the next one is shown within half a minute. */
export function wrongCode(): RPCError {
  return new RPCError("validation_error", "That code is wrong, or was used. Wait for the next one.", {
    parameter: "code",
  });
}

export const EnterCode = view(() => {
  const form = useForm();

  const signIn = async ({ code = "" }) => {
    if (!(await enter_code(code))) throw wrongCode();
    location.assign("/account");
  };

  return (
    <form method="post" onSubmit={(event) => send(form, event, signIn)}>
      <Field of={form} {...CODE} />
      <Submit of={form} label="Sign in" busy="Signing in…" />
    </form>
  );
});
