import { RPCError, view } from "tsweb/browser";
import { createForm, Field, Submit, submitForm } from "./form.tsx";
import { login } from "./sign-in.server.ts";

/** The form for a sign-in with a password. */
export const SignIn = view(() => {
  const form = createForm();

  const signIn = async ({ email = "", password = "" }) => {
    if (await login(email, password)) return location.assign("/account");
    throw new RPCError("unauthenticated", "Unknown email or wrong password.", { parameter: "password" });
  };

  return (
    <form method="post" onSubmit={(event) => submitForm(form, event, signIn)}>
      <Field formState={form} name="email" label="Email address" type="email" autoComplete="email" />
      <Field formState={form} name="password" label="Password" type="password" autoComplete="current-password" />
      <Submit formState={form} label="Sign in" busyLabel="Signing in…" />
    </form>
  );
});
