/** The pages of sign-in links. */
import { page, redirect, session } from "tsweb";
import { NoScript } from "../shared/no-script.server.tsx";
import { OpenLink } from "./open-link.tsx";
import { RequestLink } from "./request-link.tsx";

/** Requests a sign-in link. */
export const link = page("/link", { title: "Sign in by email" }, () => {
  if (session.user()) return redirect("/account");
  return (
    <section class="card">
      <h1>Sign in by email</h1>
      <p>We send you a link, so you need no password.</p>
      <RequestLink />
      <NoScript />
      <p class="hint">This is an example without a mail server: it writes the link to its log.</p>
      <p class="aside">
        <a href="/">Sign in with your password</a>
      </p>
    </section>
  );
});

/** The page that a sign-in link opens. */
export const openedLink = page("/link/open", { title: "Sign in" }, () => (
  <section class="card">
    <h1>You are almost in</h1>
    <p>The link that you have opened signs you in once.</p>
    <OpenLink />
    <NoScript />
    <p class="aside">
      It does not work? <a href="/link">Ask for another one</a>
    </p>
  </section>
));
