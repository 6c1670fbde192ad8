/** The pages. They run on the server for every request, and their forms need no script. */
import { form, page, redirect, request, session } from "tsweb";
import { admin_report, login, logout, logout_everywhere, register } from "./accounts.server.ts";
import { isConfirmed } from "./address/store.server.ts";
import { requiresCode } from "./codes/store.server.ts";
import { listPasskeys } from "./passkeys/store.server.ts";
import { ContinueWith } from "./providers/pages.server.tsx";
import { Field, FormError } from "./shared/form-parts.server.tsx";

/** The sign-in page. Other pages that require a signed-in user redirect here, with their path as `next`. */
export const home = page("/", { title: "Sign in" }, () => {
  // A page is rendered after the function of its form: here, login() may have started the session.
  if (session.user()) return redirect(request.query.next, { or: "/account" });
  const signIn = form(login);
  return (
    <section class="card">
      <h1>Sign in</h1>
      <form action={signIn}>
        <Field
          handle={signIn}
          name="email"
          label="Email address"
          type="email"
          autoComplete="email"
          value={signIn.values.email}
        />
        <Field
          handle={signIn}
          name="password"
          label="Password"
          type="password"
          autoComplete="current-password"
          error={signIn.result === false ? "Unknown email or wrong password." : undefined}
        />
        <FormError handle={signIn} />
        <button type="submit">Sign in</button>
      </form>
      {signIn.result === false && (
        <p>
          Forgotten your password? <a href="/password">Choose a new one</a>
        </p>
      )}
      <ul class="ways">
        <ContinueWith next={request.query.next} />
        <li>
          <a href="/passkey">Use a passkey</a>
        </li>
        <li>
          <a href="/link">Email me a link</a>
        </li>
      </ul>
      <p class="aside">
        New here? <a href="/register">Create an account</a>
      </p>
    </section>
  );
});

export const registration = page("/register", { title: "Create an account" }, () => {
  const signUp = form(register);
  if (signUp.result) return redirect("/account");
  return (
    <section class="card">
      <h1>Create an account</h1>
      <form action={signUp}>
        <Field handle={signUp} name="name" label="Name" autoComplete="name" maxLength={100} />
        <Field handle={signUp} name="email" label="Email address" type="email" autoComplete="email" maxLength={254} />
        <Field
          handle={signUp}
          name="password"
          label="Password"
          hint="At least 8 characters."
          type="password"
          autoComplete="new-password"
          minLength={8}
        />
        <FormError handle={signUp} />
        <button type="submit">Create account</button>
      </form>
      <p class="aside">
        Registered already? <a href="/">Sign in</a>
      </p>
    </section>
  );
});

export const account = page("/account", { title: "Your account" }, async () => {
  const user = session.user();
  if (!user) return redirect("/");
  const { sub } = user;
  const [passkeys, hasCodes, hasConfirmed] = await Promise.all([
    listPasskeys(sub),
    requiresCode(sub),
    isConfirmed(sub),
  ]);
  return (
    <section class="card">
      <h1>Your account</h1>
      <dl>
        <dt>Name</dt>
        <dd>{user.name}</dd>
        <dt>Email address</dt>
        <dd>{sub}</dd>
      </dl>
      <ul class="rows">
        <li>
          <a href="/account/address">Email address</a>
          <span class="hint">{hasConfirmed ? "Confirmed" : "Not confirmed"}</span>
        </li>
        <li>
          <a href="/account/passkeys">Passkeys</a>
          <span class="hint">{passkeys.length || "None"}</span>
        </li>
        <li>
          <a href="/account/codes">One-time codes</a>
          <span class="hint">{hasCodes ? "On" : "Off"}</span>
        </li>
      </ul>
      <form class="quiet" action={logout}>
        <button type="submit">Sign out</button>
        <button type="submit" formAction={logout_everywhere}>
          Sign out everywhere
        </button>
      </form>
    </section>
  );
});

const day = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeZone: "UTC" });
const time = new Intl.DateTimeFormat("en-GB", { timeStyle: "short", timeZone: "UTC" });

/** The users, for admins. */
export const admin = page("/admin", { title: "Registered users" }, async () => {
  session.require("admin");
  const users = await admin_report();
  return (
    <section class="card wide">
      <h1>Registered users</h1>
      <table>
        <thead>
          <tr>
            <th scope="col">User</th>
            <th scope="col">Registered</th>
          </tr>
        </thead>
        <tbody>
          {users.map(({ email, name, roles, registered }) => (
            <tr key={email}>
              <td>
                {name} {roles.includes("admin") && <span class="badge">Admin</span>}
                <span class="hint">{email}</span>
              </td>
              <td>
                <time dateTime={registered}>
                  {day.format(new Date(registered))}
                  <span class="hint">{time.format(new Date(registered))} UTC</span>
                </time>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
});
