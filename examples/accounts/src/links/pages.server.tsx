/**
 * The pages of sign-in by a link.
 */
import { page, redirect, session } from "tsweb";
import { NoScript } from "../shared/no-script.server.tsx";
import { AskForLink } from "./ask-for-link.tsx";
import { OpenLink } from "./open-link.tsx";

export const link = page("/link", { title: "Sign in by email" }, () => {
  if (session.user()) return redirect("/account");
  return (
    <section class="card">
      <h1>Sign in by email</h1>
      <p>We send you a link, and you need no password.</p>
      <AskForLink />
      <NoScript />
      <p class="hint">This is an example without a mail server: it writes the link to its log.</p>
      <p class="aside">
        <a href="/">Sign in with your password</a>
      </p>
    </section>
  );
});

export const linked = page("/link/open", { title: "Sign in" }, () => (
  <section class="card">
    <h1>You are almost in</h1>
    <p>The link that brought you here signs you in once.</p>
    <OpenLink />
    <NoScript />
    <p class="aside">
      It does not work? <a href="/link">Ask for another one</a>
    </p>
  </section>
));
