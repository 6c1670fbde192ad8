import { view } from "tsweb/browser";
import { createForm, Submit, submitForm } from "../form.tsx";
import { createPasskey, requirePasskeySupport } from "./authenticator.ts";
import { add_passkey, passkey_registration_options } from "./passkeys.server.ts";

/** The button that adds a passkey to the account. */
export const AddPasskey = view(() => {
  const form = createForm();

  const add = async () => {
    requirePasskeySupport();
    const { response } = await createPasskey(await passkey_registration_options());
    await add_passkey(response.clientDataJSON, response.authenticatorData);
    location.reload();
  };

  return (
    <form method="post" onSubmit={(event) => submitForm(form, event, add)}>
      <Submit formState={form} label="Add a passkey" busyLabel="Asking your device…" />
    </form>
  );
});
