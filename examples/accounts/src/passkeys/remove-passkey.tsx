import { view } from "tsweb/browser";
import { Submit, send, useForm } from "../form.tsx";
import { remove_passkey } from "./passkeys.server.ts";

/** @param props `label` is the id of what names the passkey on the page */
export const RemovePasskey = view(({ id, label }: { id: string; label: string }) => {
  const form = useForm();

  const remove = async () => {
    await remove_passkey(id);
    location.reload();
  };

  return (
    <form class="quiet" method="post" aria-labelledby={label} onSubmit={(event) => send(form, event, remove)}>
      <Submit of={form} label="Remove" busy="Removing…" />
    </form>
  );
});
