/** The confirmation of an address: the functions of the forms. */
import { RPCError, server, session } from "tsweb";
import { countAttempt } from "../shared/attempts.server.ts";
import { sendMail } from "../shared/mail.server.ts";
import { readValue, signValue } from "../shared/signed-values.server.ts";
import { siteUrl } from "../shared/site.server.ts";
import { markAsUsed } from "../shared/tickets.server.ts";
import { openedAddress } from "./pages.server.tsx";
import { confirm } from "./store.server.ts";

const LINK_LIFETIME_SECONDS = 24 * 60 * 60;

/** Sends a link to the address of the user, at most ten times in five minutes. */
export const send_confirmation = server({ auth_required: true }, async (): Promise<true> => {
  const { sub } = session.require();
  const link = new URL(openedAddress.href(), siteUrl());
  await countAttempt("confirm", sub);
  link.searchParams.set("token", signValue("confirm", sub, LINK_LIFETIME_SECONDS));
  const text = `Confirm the address of your account with this link. It is valid for a day:\n${link}`;
  sendMail({ to: sub, subject: "Confirm your address", text });
  return true;
});

/**
 * Confirms the address of the user with the token of a link, once. The user has to be signed in: the link alone proves that
 * its reader has the address, and not that they have registered the account. A session that was started with a link proves no
 * more. A new password does, and removes what somebody else may have set up.
 */
export const confirm_address = server({ auth_required: true }, async (token: string) => {
  const { sub, by_link } = session.require();
  if (by_link) {
    const message =
      "You have signed in with a link. Sign in with your password, or choose a new one: Forgotten password.";
    throw new RPCError("forbidden", message);
  }
  if (readValue("confirm", token) !== sub || !(await markAsUsed(token, LINK_LIFETIME_SECONDS))) {
    const message = "This link has expired, was used before, or is for another account. Ask for another one.";
    throw new RPCError("validation_error", message);
  }
  await confirm(sub);
});
