/** The pages that confirm an address. */
import { form, page, request, session } from "tsweb";
import { account } from "../pages.server.tsx";
import { FormError } from "../shared/form-parts.server.tsx";
import { confirm_address, send_confirmation } from "./address.server.ts";
import { isConfirmed } from "./store.server.ts";

/** Shows whether the address of the user is confirmed, and sends a link. */
export const address = page("/account/address", { title: "Email address" }, async () => {
  const { sub } = session.require();
  const sendLink = form(send_confirmation);
  return (
    <section class="card">
      <h1>Email address</h1>
      {(await isConfirmed(sub)) ? (
        <p>
          <span class="badge">Confirmed</span> You have proven that you receive the mail of {sub}.
        </p>
      ) : (
        <>
          <p>
            {sendLink.result
              ? `A link is on its way to ${sub}. It is valid for a day.`
              : `Confirm that ${sub} is your address: we send you a link.`}
          </p>
          <form class={sendLink.result ? "quiet" : undefined} action={sendLink}>
            <FormError handle={sendLink} />
            <button type="submit">{sendLink.result ? "Send another link" : "Send me a link"}</button>
          </form>
          <p class="hint">This is an example without a mail server: it writes the mail to its log.</p>
        </>
      )}
      <p class="aside">
        <a href={account.href()}>Back to your account</a>
      </p>
    </section>
  );
});

/** The page that the link opens. A button confirms, because mail scanners open links. */
export const openedAddress = page("/account/address/open", { title: "Confirm your address" }, async () => {
  const { sub } = session.require();
  const confirmAddress = form(confirm_address);
  const isDone = await isConfirmed(sub);
  return (
    <section class="card">
      <h1>{isDone ? "Your address is confirmed" : "Confirm your address"}</h1>
      <p>{sub}</p>
      {!isDone && (
        <form action={confirmAddress}>
          <input type="hidden" name="token" value={request.query.token} />
          <FormError handle={confirmAddress} />
          <button type="submit">Confirm</button>
        </form>
      )}
      <p class="aside">
        <a href={account.href()}>To your account</a>
      </p>
    </section>
  );
});
