import { view } from "tsweb/browser";
import { createForm, Submit, submitForm } from "../form.tsx";
import { remove_passkey } from "./passkeys.server.ts";

/**
 * The button that removes a passkey.
 *
 * @param props `label` is the id of the element that describes the passkey
 */
export const RemovePasskey = view(({ id, label }: { id: string; label: string }) => {
  const form = createForm();

  const remove = async () => {
    await remove_passkey(id);
    location.reload();
  };

  return (
    <form class="quiet" method="post" aria-labelledby={label} onSubmit={(event) => submitForm(form, event, remove)}>
      <Submit formState={form} label="Remove" busyLabel="Removing…" />
    </form>
  );
});
