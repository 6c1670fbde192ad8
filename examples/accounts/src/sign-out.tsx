import { view } from "tsweb/browser";
import { logout } from "./accounts.server.ts";
import { Submit, send, useForm } from "./form.tsx";

export const SignOut = view(() => {
  const form = useForm();

  const signOut = async () => {
    await logout();
    location.assign("/");
  };

  return (
    <form class="quiet" method="post" onSubmit={(event) => send(form, event, signOut)}>
      <Submit of={form} label="Sign out" busy="Signing out…" />
    </form>
  );
});
