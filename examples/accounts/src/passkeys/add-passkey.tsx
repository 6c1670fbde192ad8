import { view } from "tsweb/browser";
import { createPasskey, requirePasskeySupport } from "./authenticator.ts";
import { PasskeyButton } from "./passkey-button.tsx";
import { add_passkey, passkey_registration_options } from "./passkeys.server.ts";

/** The button that adds a passkey to the account. */
export const AddPasskey = view(() => {
  const add = async () => {
    requirePasskeySupport();
    const { response } = await createPasskey(await passkey_registration_options());
    await add_passkey(response.clientDataJSON, response.authenticatorData);
    location.reload();
  };
  return <PasskeyButton label="Add a passkey" run={add} />;
});
