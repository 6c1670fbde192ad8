/** The pages of one-time codes. */
import { page, redirect, session } from "tsweb";
import { NoScript } from "../shared/no-script.server.tsx";
import { readTicket } from "../shared/tickets.server.ts";
import { EnterCode } from "./enter-code.tsx";
import { SetUpCodes } from "./set-up-codes.tsx";
import { requiresCode } from "./store.server.ts";
import { SwitchCodesOff } from "./switch-codes-off.tsx";

/** The second step of a sign-in, for users who have switched codes on. */
export const code = page("/code", { title: "One-time code" }, async () => {
  if ((await readTicket("code")) === null) return redirect("/");
  return (
    <section class="card">
      <h1>One more step</h1>
      <p>Open your authenticator app, and enter the code that it shows for Accounts.</p>
      <EnterCode />
      <NoScript />
      <p class="aside">
        No code available? <a href="/">Start again</a>
      </p>
    </section>
  );
});

/** Switches one-time codes on or off. */
export const codes = page("/account/codes", { title: "One-time codes" }, async () => {
  const user = session.user();
  if (!user) return redirect("/");
  const isActive = await requiresCode(user.sub);
  return (
    <section class="card">
      <h1>One-time codes</h1>
      {isActive ? (
        <>
          <p>
            <span class="badge">On</span> After your password or a link, you need a code from your authenticator app.
          </p>
          <SwitchCodesOff />
        </>
      ) : (
        <>
          <p>
            An authenticator app on your phone shows a new code every 30 seconds. Somebody who learns your password
            cannot sign in without it.
          </p>
          <SetUpCodes />
        </>
      )}
      <NoScript />
      <p class="aside">
        <a href="/account">Back to your account</a>
      </p>
    </section>
  );
});
