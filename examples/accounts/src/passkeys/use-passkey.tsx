import { view } from "tsweb/browser";
import { Submit, send, useForm } from "../form.tsx";
import { requirePasskeys, use } from "./authenticator.ts";
import { ask_for_passkey, sign_in_with_passkey } from "./passkeys.server.ts";

export const UsePasskey = view(() => {
  const form = useForm();

  const signIn = async () => {
    requirePasskeys();
    const { id, response } = await use(await ask_for_passkey());
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
    <form method="post" onSubmit={(event) => send(form, event, signIn)}>
      <Submit of={form} label="Use a passkey" busy="Asking your device…" />
    </form>
  );
});
