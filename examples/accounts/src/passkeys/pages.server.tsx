/** The pages of passkeys. */
import { form, page, redirect, session } from "tsweb";
import { account, home } from "../pages.server.tsx";
import { FormError } from "../shared/form-parts.server.tsx";
import { AddPasskey } from "./add-passkey.tsx";
import { remove_passkey } from "./passkeys.server.ts";
import * as store from "./store.server.ts";
import { UsePasskey } from "./use-passkey.tsx";

/** Signs in with a passkey. */
export const passkey = page("/passkey", { title: "Sign in with a passkey" }, () => {
  if (session.user()) return redirect(account.href());
  return (
    <section class="card">
      <h1>Sign in with a passkey</h1>
      <p>Your device asks for your finger, your face or its PIN, and you need no password.</p>
      <UsePasskey />
      <NoScript />
      <p class="aside">
        No passkey yet? <a href={home.href()}>Sign in with your password</a>, and add one to your account.
      </p>
    </section>
  );
});

const day = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeZone: "UTC" });

/** Lists, adds and removes the passkeys of the user. */
export const passkeys = page("/account/passkeys", { title: "Passkeys" }, async () => {
  const { sub } = session.require();
  const userPasskeys = await store.listPasskeys(sub);
  return (
    <section class="card">
      <h1>Passkeys</h1>
      <p>
        A passkey signs you in with your finger, your face or a PIN. It stays on your devices, and nobody can phish it.
      </p>
      {userPasskeys.length > 0 && (
        <ul class="rows">
          {userPasskeys.map(({ id, registered, used, backedUp }, index) => (
            <li key={id}>
              <p id={`passkey-${index}`}>
                Passkey of <time dateTime={registered.toISOString()}>{day.format(registered)}</time>
                <span class="hint">
                  {used ? `Used on ${day.format(used)}` : "Not used yet"}
                  {backedUp && ", backed up"}
                </span>
              </p>
              <RemovePasskey id={id} describedBy={`passkey-${index}`} />
            </li>
          ))}
        </ul>
      )}
      <AddPasskey />
      <NoScript />
      <p class="aside">
        <a href={account.href()}>Back to your account</a>
      </p>
    </section>
  );
});

/** The button that removes a passkey. */
function RemovePasskey({ id, describedBy }: { readonly id: string; readonly describedBy: string }) {
  const remove = form(remove_passkey, { key: id });
  return (
    <form class="quiet" action={remove} aria-labelledby={describedBy}>
      <input type="hidden" name="id" value={id} />
      <FormError handle={remove} />
      <button type="submit">Remove</button>
    </form>
  );
}

/** A notice for browsers without script. Only a script can ask the device for a passkey. */
function NoScript() {
  return (
    <noscript>
      <p class="hint">Passkeys need JavaScript, which is switched off in your browser.</p>
    </noscript>
  );
}
