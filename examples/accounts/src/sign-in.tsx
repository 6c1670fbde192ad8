import { RPCError, view } from "tsweb/browser";
import { Field, Submit, send, useForm } from "./form.tsx";
import { login } from "./sign-in.server.ts";

export const SignIn = view(() => {
  const form = useForm();

  const signIn = async ({ email = "", password = "" }) => {
    if (await login(email, password)) return location.assign("/account");
    throw new RPCError("unauthenticated", "Unknown email or wrong password.", { parameter: "password" });
  };

  return (
    <form method="post" onSubmit={(event) => send(form, event, signIn)}>
      <Field of={form} name="email" label="Email address" type="email" autoComplete="email" />
      <Field of={form} name="password" label="Password" type="password" autoComplete="current-password" />
      <Submit of={form} label="Sign in" busy="Signing in…" />
    </form>
  );
});
