/** The pages of sign-in links. */
import { form, page, redirect, request, session } from "tsweb";
import { account, home } from "../pages.server.tsx";
import { forgotten } from "../passwords/pages.server.tsx";
import { FormError, LinkRequest, LinkSent } from "../shared/form-parts.server.tsx";
import { open_link, send_link } from "./links.server.ts";

/** Requests a sign-in link. */
export const link = page("/link", { title: "Sign in by email" }, () => {
  if (session.user()) return redirect(account.href());
  const requestLink = form(send_link);
  return (
    <section class="card">
      <h1>Sign in by email</h1>
      <p>We send you a link, so you need no password.</p>
      <LinkRequest handle={requestLink} />
      <p class="aside">
        <a href={home.href()}>Sign in with your password</a>, or <a href={forgotten.href()}>choose a new one</a>
      </p>
    </section>
  );
});

/** Follows the request for a link, whether or not the address is registered. */
export const linkSent = page("/link/sent", { title: "Look at your mail" }, () => (
  <LinkSent minutes={15} again={link.href()} />
));

/** The page that a sign-in link opens. Mail scanners open links, and would use up a link that needs no button. */
export const openedLink = page("/link/open", { title: "Sign in" }, () => {
  const openLink = form(open_link);
  if (openLink.result) return redirect(account.href());
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
        It does not work? <a href={link.href()}>Ask for another one</a>
      </p>
    </section>
  );
});
