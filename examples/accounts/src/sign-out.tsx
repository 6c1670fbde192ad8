import { view } from "tsweb/browser";
import { logout } from "./accounts.server.ts";
import { createForm, Submit, submitForm } from "./form.tsx";

/** The button that signs the user out. */
export const SignOut = view(() => {
  const form = createForm();

  const signOut = async () => {
    await logout();
    location.assign("/");
  };

  return (
    <form class="quiet" method="post" onSubmit={(event) => submitForm(form, event, signOut)}>
      <Submit formState={form} label="Sign out" busyLabel="Signing out…" />
    </form>
  );
});
