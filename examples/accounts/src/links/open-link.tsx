import { view } from "tsweb/browser";
import { Submit, send, useForm } from "../form.tsx";
import { open_link } from "./links.server.ts";

/** A button: what scans mail for bad links opens them, and would spend a link that needs no press. */
export const OpenLink = view(() => {
  const form = useForm();

  const open = async () => {
    await open_link(location.hash.slice(1));
    location.replace("/account");
  };

  return (
    <form method="post" onSubmit={(event) => send(form, event, open)}>
      <Submit of={form} label="Sign in" busy="Signing in…" />
    </form>
  );
});
