import { view } from "tsweb/browser";
import { requirePasskeySupport, usePasskey } from "./authenticator.ts";
import { PasskeyButton } from "./passkey-button.tsx";
import { passkey_sign_in_options, sign_in_with_passkey } from "./passkeys.server.ts";

/** The button that signs in with a passkey. */
export const UsePasskey = view(() => {
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
  };
  return <PasskeyButton label="Use a passkey" run={signIn} />;
});
