import { state, view } from "tsweb/browser";
import { Field, Submit, send, useForm } from "../form.tsx";
import { send_link } from "./links.server.ts";

export const AskForLink = view(() => {
  const form = useForm();
  const sent = state({ to: "" });

  const ask = async ({ email = "" }) => {
    await send_link(email);
    sent.to = email;
  };

  return (
    <form method="post" onSubmit={(event) => send(form, event, ask)}>
      <Field of={form} name="email" label="Email address" type="email" autoComplete="email" maxLength={254} />
      <Submit of={form} label="Send me a link" busy="Sending…" />
      <p class="done" role="status">
        {sent.to && `If ${sent.to} is registered, a link is on its way. It holds for 15 minutes.`}
      </p>
    </form>
  );
});
