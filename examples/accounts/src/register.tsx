import { view } from "tsweb/browser";
import { register } from "./accounts.server.ts";
import { Field, Submit, send, useForm } from "./form.tsx";

export const Register = view(() => {
  const form = useForm();

  const signUp = async ({ email = "", name = "", password = "" }) => {
    await register(email, name, password);
    location.assign("/account");
  };

  return (
    <form method="post" onSubmit={(event) => send(form, event, signUp)}>
      <Field of={form} name="name" label="Name" autoComplete="name" maxLength={100} />
      <Field of={form} name="email" label="Email address" type="email" autoComplete="email" maxLength={254} />
      <Field
        of={form}
        name="password"
        label="Password"
        hint="At least 8 characters."
        type="password"
        autoComplete="new-password"
        minLength={8}
      />
      <Submit of={form} label="Create account" busy="Creating your account…" />
    </form>
  );
});
