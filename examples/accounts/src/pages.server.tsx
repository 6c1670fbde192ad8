/**
 * The pages. They run on the server only, at each visit; the views in them come alive in the browser.
 */
import { page, redirect, session } from "tsweb";
import { admin_report } from "./accounts.server.ts";
import { Register } from "./register.tsx";
import { SignIn } from "./sign-in.tsx";
import { SignOut } from "./sign-out.tsx";

export const home = page("/", { title: "Sign in" }, () => {
  if (session.user()) return redirect("/account");
  return (
    <section class="card">
      <h1>Sign in</h1>
      <SignIn />
      <NoScript />
      <p class="aside">
        New here? <a href="/register">Create an account</a>
      </p>
    </section>
  );
});

export const registration = page("/register", { title: "Create an account" }, () => (
  <section class="card">
    <h1>Create an account</h1>
    <Register />
    <NoScript />
    <p class="aside">
      Registered already? <a href="/">Sign in</a>
    </p>
  </section>
));

export const account = page("/account", { title: "Your account" }, () => {
  const user = session.user();
  if (!user) return redirect("/");
  return (
    <section class="card">
      <h1>Your account</h1>
      <dl>
        <dt>Name</dt>
        <dd>{user.name}</dd>
        <dt>Email address</dt>
        <dd>{user.sub}</dd>
      </dl>
      <SignOut />
    </section>
  );
});

function NoScript() {
  return (
    <noscript>
      <p class="hint">This form needs JavaScript, which is switched off in your browser.</p>
    </noscript>
  );
}

const day = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeZone: "UTC" });
const time = new Intl.DateTimeFormat("en-GB", { timeStyle: "short", timeZone: "UTC" });

/** No view in it, so no script is sent with it. */
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
