import { state, view } from "tsweb/browser";
import { createForm, Field, Submit, submitForm } from "../form.tsx";
import { send_link } from "./links.server.ts";

/** The form that requests a sign-in link. */
export const RequestLink = view(() => {
  const form = createForm();
  const sent = state({ to: "" });

  const request = async ({ email = "" }) => {
    await send_link(email);
    sent.to = email;
  };

  return (
    <form method="post" onSubmit={(event) => submitForm(form, event, request)}>
      <Field formState={form} name="email" label="Email address" type="email" autoComplete="email" maxLength={254} />
      <Submit formState={form} label="Send me a link" busyLabel="Sending…" />
      <p class="done" role="status">
        {sent.to && `If ${sent.to} is registered, a link is on its way. It is valid for 15 minutes.`}
      </p>
    </form>
  );
});
