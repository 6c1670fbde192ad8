/** The pages. They run on the server for every request. The views in them are hydrated in the browser. */
import { page, redirect, session } from "tsweb";
import { admin_report } from "./accounts.server.ts";
import { requiresCode } from "./codes/store.server.ts";
import { listPasskeys } from "./passkeys/store.server.ts";
import { Register } from "./register.tsx";
import { NoScript } from "./shared/no-script.server.tsx";
import { readTicket } from "./shared/tickets.server.ts";
import { SignIn } from "./sign-in.tsx";
import { SignOut } from "./sign-out.tsx";

export const home = page("/", { title: "Sign in" }, () => {
  if (session.user()) return redirect("/account");
  return (
    <section class="card">
      <h1>Sign in</h1>
      <SignIn />
      <NoScript />
      <ul class="ways">
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

export const account = page("/account", { title: "Your account" }, async () => {
  const user = session.user();
  // After a correct password, a user who has switched codes on must enter a code first.
  if (!user) return redirect((await readTicket("code")) === null ? "/" : "/code");
  const [passkeys, hasCodes] = await Promise.all([listPasskeys(user.sub), requiresCode(user.sub)]);
  return (
    <section class="card">
      <h1>Your account</h1>
      <dl>
        <dt>Name</dt>
        <dd>{user.name}</dd>
        <dt>Email address</dt>
        <dd>{user.sub}</dd>
      </dl>
      <ul class="rows">
        <li>
          <a href="/account/passkeys">Passkeys</a>
          <span class="hint">{passkeys.length || "None"}</span>
        </li>
        <li>
          <a href="/account/codes">One-time codes</a>
          <span class="hint">{hasCodes ? "On" : "Off"}</span>
        </li>
      </ul>
      <SignOut />
    </section>
  );
});

const day = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeZone: "UTC" });
const time = new Intl.DateTimeFormat("en-GB", { timeStyle: "short", timeZone: "UTC" });

/** The users, for admins. The page has no view, so it loads no script. */
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
