import { view } from "tsweb/browser";
import { Submit, send, useForm } from "../form.tsx";
import { make, requirePasskeys } from "./authenticator.ts";
import { add_passkey, new_passkey } from "./passkeys.server.ts";

export const AddPasskey = view(() => {
  const form = useForm();

  const add = async () => {
    requirePasskeys();
    const { response } = await make(await new_passkey());
    await add_passkey(response.clientDataJSON, response.authenticatorData);
    location.reload();
  };

  return (
    <form method="post" onSubmit={(event) => send(form, event, add)}>
      <Submit of={form} label="Add a passkey" busy="Asking your device…" />
    </form>
  );
});
