/** The pages for a forgotten password. */
import { form, page, request } from "tsweb";
import { home } from "../pages.server.tsx";
import { Field, FormError, LinkRequest, LinkSent } from "../shared/form-parts.server.tsx";
import { forgot_password, reset_password } from "./passwords.server.ts";

/** Requests a link to choose a new password. */
export const forgotten = page("/password", { title: "Forgotten password" }, () => {
  const requestLink = form(forgot_password);
  return (
    <section class="card">
      <h1>Forgotten password</h1>
      <p>We send you a link, with which you choose a new password.</p>
      <LinkRequest handle={requestLink} />
      <p class="aside">
        <a href={home.href()}>Back to the sign-in page</a>
      </p>
    </section>
  );
});

/** Follows the request for a link, whether or not the address is registered. */
export const resetSent = page("/password/sent", { title: "Look at your mail" }, () => (
  <LinkSent minutes={30} again={forgotten.href()} />
));

/** The page that the link opens. Mail scanners open it too: only its form uses the link up. */
export const newPassword = page("/password/new", { title: "New password" }, () => {
  const reset = form(reset_password);
  return (
    <section class="card">
      <h1>Choose a new password</h1>
      <p>It signs you out everywhere. After that, sign in with it.</p>
      <form action={reset}>
        <input type="hidden" name="token" value={request.query.token} />
        <Field
          handle={reset}
          name="password"
          label="New password"
          hint="At least 8 characters."
          type="password"
          autoComplete="new-password"
          minLength={8}
        />
        <FormError handle={reset} />
        <button type="submit">Change password</button>
      </form>
      <p class="aside">
        It does not work? <a href={forgotten.href()}>Ask for another link</a>
      </p>
    </section>
  );
});

/** Follows the change of a password. */
export const passwordChanged = page("/password/changed", { title: "Password changed" }, () => (
  <section class="card">
    <h1>Your password is changed</h1>
    <p>You are signed out in every browser.</p>
    <p class="aside">
      <a href={home.href()}>Sign in with the new password</a>
    </p>
  </section>
));
