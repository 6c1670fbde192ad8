/** The pages of one-time codes. */
import { type FormHandle, form, page, redirect, request, session } from "tsweb";
import { account, home } from "../pages.server.tsx";
import { Field, FormError } from "../shared/form-parts.server.tsx";
import { readTicket } from "../shared/tickets.server.ts";
import { base32 } from "./base32.ts";
import { enter_code, set_up_codes, switch_codes_off, switch_codes_on } from "./codes.server.ts";
import { findSecret, requiresCode } from "./store.server.ts";

/** The second step of a sign-in, for users who have switched codes on. */
export const code = page("/code", { title: "One-time code" }, async () => {
  const enterCode = form(enter_code);
  if (enterCode.result) return redirect(request.query.next, { or: account.href() });
  if ((await readTicket("code")) === null) return redirect(home.href());
  return (
    <section class="card">
      <h1>One more step</h1>
      <p>Open your authenticator app, and enter the code that it shows for Accounts.</p>
      <form action={enterCode}>
        <CodeField handle={enterCode} />
        <button type="submit">Sign in</button>
      </form>
      <p class="aside">
        No code available? <a href={home.href()}>Start again</a>
      </p>
    </section>
  );
});

/** Switches one-time codes on or off. */
export const codes = page("/account/codes", { title: "One-time codes" }, async () => {
  const { sub } = session.require();
  const isActive = await requiresCode(sub);
  const secret = await findSecret(sub, "pending");
  return (
    <section class="card">
      <h1>One-time codes</h1>
      {isActive ? <SwitchOff /> : secret ? <SwitchOn email={sub} secret={base32(secret)} /> : <SetUp />}
      <p class="aside">
        <a href={account.href()}>Back to your account</a>
      </p>
    </section>
  );
});

/** The first step: creates the secret. */
function SetUp() {
  return (
    <>
      <p>
        An authenticator app on your phone shows a new code every 30 seconds. Somebody who learns your password cannot
        sign in without it.
      </p>
      <form action={set_up_codes}>
        <button type="submit">Set up one-time codes</button>
      </form>
    </>
  );
}

/** The second step: shows the secret, and requests a code of the app. */
function SwitchOn({ email, secret }: { readonly email: string; readonly secret: string }) {
  const switchOn = form(switch_codes_on);
  const label = encodeURIComponent(`Accounts:${email}`);
  return (
    <>
      <ol class="steps">
        <li>
          <p>
            <a href={`otpauth://totp/${label}?secret=${secret}&issuer=Accounts`}>Open your authenticator app</a>, or
            type this secret into it:
          </p>
          <code class="secret">{secret.match(/.{4}/g)?.join(" ")}</code>
        </li>
        <li>Enter the code that the app shows.</li>
      </ol>
      <form action={switchOn}>
        <CodeField handle={switchOn} />
        <button type="submit">Switch on</button>
      </form>
      <form class="quiet" action={set_up_codes}>
        <button type="submit">Create another secret</button>
      </form>
    </>
  );
}

function SwitchOff() {
  const switchOff = form(switch_codes_off);
  return (
    <>
      <p>
        <span class="badge">On</span> After your password or a link, you need a code from your authenticator app.
      </p>
      <form class="quiet" action={switchOff}>
        <CodeField handle={switchOff} />
        <button type="submit">Switch off</button>
      </form>
    </>
  );
}

/** The field for a code, with the errors of its form. */
function CodeField({ handle }: { readonly handle: FormHandle }) {
  return (
    <>
      <Field
        handle={handle}
        name="code"
        label="Code"
        hint="Six digits."
        inputMode="numeric"
        autoComplete="one-time-code"
        pattern="[0-9 ]{6,7}"
        maxLength={7}
      />
      <FormError handle={handle} />
    </>
  );
}
