/** The pages. They run on the server for every request, and their forms need no script. */
import { form, Later, type PageResult, page, redirect, request, session } from "tsweb";
import { admin_report, login, logout, logout_everywhere, register } from "./accounts.server.ts";
import { address } from "./address/pages.server.tsx";
import { isConfirmed } from "./address/store.server.ts";
import { codes } from "./codes/pages.server.tsx";
import { requiresCode } from "./codes/store.server.ts";
import { link } from "./links/pages.server.tsx";
import { passkey, passkeys } from "./passkeys/pages.server.tsx";
import { listPasskeys } from "./passkeys/store.server.ts";
import { forgotten } from "./passwords/pages.server.tsx";
import { ContinueWith } from "./providers/pages.server.tsx";
import { Field, FormError } from "./shared/form-parts.server.tsx";

/** The sign-in page. Other pages that require a signed-in user redirect here, with their path as `next`. */
export const home = page("/", { title: "Sign in" }, (): PageResult => {
  // A page is rendered after the function of its form: here, login() may have started the session.
  if (session.user()) return redirect(request.query.next, { or: account.href() });
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
          Forgotten your password? <a href={forgotten.href()}>Choose a new one</a>
        </p>
      )}
      <ul class="ways">
        <ContinueWith next={request.query.next} />
        <li>
          <a href={passkey.href()}>Use a passkey</a>
        </li>
        <li>
          <a href={link.href()}>Email me a link</a>
        </li>
      </ul>
      <p class="aside">
        New here? <a href={registration.href()}>Create an account</a>
      </p>
    </section>
  );
});

export const registration = page("/register", { title: "Create an account" }, () => {
  const signUp = form(register);
  if (signUp.result) return redirect(account.href());
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
        Registered already? <a href={home.href()}>Sign in</a>
      </p>
    </section>
  );
});

export const account = page("/account", { title: "Your account" }, async (): Promise<PageResult> => {
  const user = session.user();
  if (!user) return redirect(home.href());
  const { sub } = user;
  const [userPasskeys, hasCodes, hasConfirmed] = await Promise.all([
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
          <a href={address.href()}>Email address</a>
          <span class="hint">{hasConfirmed ? "Confirmed" : "Not confirmed"}</span>
        </li>
        <li>
          <a href={passkeys.href()}>Passkeys</a>
          <span class="hint">{userPasskeys.length || "None"}</span>
        </li>
        <li>
          <a href={codes.href()}>One-time codes</a>
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

/** The users, for admins. The page does not wait for the report, which reads all of them. */
export const admin = page("/admin", { title: "Registered users" }, () => {
  session.require("admin"); // before the page is sent: later it could not redirect
  return (
    <section class="card wide">
      <h1>Registered users</h1>
      <Later fallback={<p class="hint">Loading all users…</p>}>
        {async () => <Users users={await admin_report()} />}
      </Later>
    </section>
  );
});

function Users({ users }: { readonly users: Awaited<ReturnType<typeof admin_report>> }) {
  return (
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
  );
}
