import { view } from "tsweb/browser";
import { createForm, Submit, submitForm } from "../form.tsx";
import { requirePasskeySupport, usePasskey } from "./authenticator.ts";
import { passkey_sign_in_options, sign_in_with_passkey } from "./passkeys.server.ts";

/** The button that signs in with a passkey. */
export const UsePasskey = view(() => {
  const form = createForm();

  const signIn = async () => {
    requirePasskeySupport();
    const { id, response } = await usePasskey(await passkey_sign_in_options());
    await sign_in_with_passkey({
      id,
      clientData: response.clientDataJSON,
      authData: response.authenticatorData,
      signature: response.signature,
      userHandle: response.userHandle ?? "",
    });
    location.assign("/account");
  };

  return (
    <form method="post" onSubmit={(event) => submitForm(form, event, signIn)}>
      <Submit formState={form} label="Use a passkey" busyLabel="Asking your device…" />
    </form>
  );
});
