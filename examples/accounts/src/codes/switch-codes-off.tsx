import { view } from "tsweb/browser";
import { Field, Submit, send, useForm } from "../form.tsx";
import { switch_codes_off } from "./codes.server.ts";
import { CODE, wrongCode } from "./enter-code.tsx";

export const SwitchCodesOff = view(() => {
  const form = useForm();

  const switchOff = async ({ code = "" }) => {
    if (!(await switch_codes_off(code))) throw wrongCode();
    location.reload();
  };

  return (
    <form class="quiet" method="post" onSubmit={(event) => send(form, event, switchOff)}>
      <Field of={form} {...CODE} />
      <Submit of={form} label="Switch off" busy="Checking…" />
    </form>
  );
});
