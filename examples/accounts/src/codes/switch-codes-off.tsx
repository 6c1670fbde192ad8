import { view } from "tsweb/browser";
import { createForm, Field, Submit, submitForm } from "../form.tsx";
import { switch_codes_off } from "./codes.server.ts";
import { CODE_FIELD, wrongCodeError } from "./enter-code.tsx";

/** The form that switches one-time codes off. */
export const SwitchCodesOff = view(() => {
  const form = createForm();

  const switchOff = async ({ code = "" }) => {
    if (!(await switch_codes_off(code))) throw wrongCodeError();
    location.reload();
  };

  return (
    <form class="quiet" method="post" onSubmit={(event) => submitForm(form, event, switchOff)}>
      <Field formState={form} {...CODE_FIELD} />
      <Submit formState={form} label="Switch off" busyLabel="Checking…" />
    </form>
  );
});
