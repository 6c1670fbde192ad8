import { view } from "tsweb/browser";
import { createForm, Submit, submitForm } from "../form.tsx";
import { open_link } from "./links.server.ts";

/** A button that uses the link. Mail scanners open links, and would use up a link that needs no button. */
export const OpenLink = view(() => {
  const form = createForm();

  const open = async () => {
    await open_link(location.hash.slice(1));
    location.replace("/account");
  };

  return (
    <form method="post" onSubmit={(event) => submitForm(form, event, open)}>
      <Submit formState={form} label="Sign in" busyLabel="Signing in…" />
    </form>
  );
});
