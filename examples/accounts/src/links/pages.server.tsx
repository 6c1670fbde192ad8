/** The pages of sign-in links. */
import { form, page, redirect, request, session } from "tsweb";
import { Field, FormError } from "../shared/form-parts.server.tsx";
import { open_link, send_link } from "./links.server.ts";

/** Requests a sign-in link. */
export const link = page("/link", { title: "Sign in by email" }, () => {
  if (session.user()) return redirect("/account");
  const requestLink = form(send_link);
  return (
    <section class="card">
      <h1>Sign in by email</h1>
      <p>We send you a link, so you need no password.</p>
      <form action={requestLink}>
        <Field
          handle={requestLink}
          name="email"
          label="Email address"
          type="email"
          autoComplete="email"
          maxLength={254}
        />
        <FormError handle={requestLink} />
        <button type="submit">Send me a link</button>
      </form>
      <p class="hint">This is an example without a mail server: it writes the link to its log.</p>
      <p class="aside">
        <a href="/">Sign in with your password</a>, or <a href="/password">choose a new one</a>
      </p>
    </section>
  );
});

/** Follows the request for a link, whether or not the address is registered. */
export const linkSent = page("/link/sent", { title: "Look at your mail" }, () => (
  <section class="card">
    <h1>Look at your mail</h1>
    <p>If the address is registered, a link is on its way. It is valid for 15 minutes.</p>
    <p class="aside">
      No mail? <a href="/link">Ask for another link</a>
    </p>
  </section>
));

/** The page that a sign-in link opens. Mail scanners open links, and would use up a link that needs no button. */
export const openedLink = page("/link/open", { title: "Sign in" }, () => {
  const openLink = form(open_link);
  if (openLink.result) return redirect("/account");
  return (
    <section class="card">
      <h1>You are almost in</h1>
      <p>The link that you have opened signs you in once.</p>
      <form action={openLink}>
        <input type="hidden" name="token" value={request.query.token} />
        <FormError handle={openLink} />
        <button type="submit">Sign in</button>
      </form>
      <p class="aside">
        It does not work? <a href="/link">Ask for another one</a>
      </p>
    </section>
  );
});
