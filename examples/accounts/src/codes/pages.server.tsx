/**
 * The pages of one-time codes.
 */
import { page, redirect, session } from "tsweb";
import { NoScript } from "../shared/no-script.server.tsx";
import { look } from "../shared/tickets.server.ts";
import { EnterCode } from "./enter-code.tsx";
import { SetUpCodes } from "./set-up-codes.tsx";
import { isOn } from "./store.server.ts";
import { SwitchCodesOff } from "./switch-codes-off.tsx";

/** The second step of signing in, for those who have switched it on. */
export const code = page("/code", { title: "One-time code" }, async () => {
  if ((await look("code")) === null) return redirect("/");
  return (
    <section class="card">
      <h1>One more step</h1>
      <p>Open your authenticator app, and type in the code that it shows for Accounts.</p>
      <EnterCode />
      <NoScript />
      <p class="aside">
        No code at hand? <a href="/">Start again</a>
      </p>
    </section>
  );
});

export const codes = page("/account/codes", { title: "One-time codes" }, async () => {
  const user = session.user();
  if (!user) return redirect("/");
  const isSetUp = await isOn(user.sub);
  return (
    <section class="card">
      <h1>One-time codes</h1>
      {isSetUp ? (
        <>
          <p>
            <span class="badge">On</span> After your password, or a link, you are asked for a code of your authenticator
            app.
          </p>
          <SwitchCodesOff />
        </>
      ) : (
        <>
          <p>
            An authenticator app on your phone shows another code every half minute. Somebody who learns your password
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
