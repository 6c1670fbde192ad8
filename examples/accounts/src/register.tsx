import { view } from "tsweb/browser";
import { register } from "./accounts.server.ts";
import { createForm, Field, Submit, submitForm } from "./form.tsx";

/** The registration form. */
export const Register = view(() => {
  const form = createForm();

  const signUp = async ({ email = "", name = "", password = "" }) => {
    await register(email, name, password);
    location.assign("/account");
  };

  return (
    <form method="post" onSubmit={(event) => submitForm(form, event, signUp)}>
      <Field formState={form} name="name" label="Name" autoComplete="name" maxLength={100} />
      <Field formState={form} name="email" label="Email address" type="email" autoComplete="email" maxLength={254} />
      <Field
        formState={form}
        name="password"
        label="Password"
        hint="At least 8 characters."
        type="password"
        autoComplete="new-password"
        minLength={8}
      />
      <Submit formState={form} label="Create account" busyLabel="Creating your account…" />
    </form>
  );
});
