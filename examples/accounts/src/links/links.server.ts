/** Sign-in links: the functions of the forms. */
import { RPCError, redirect, server } from "tsweb";
import { countAttempt } from "../shared/attempts.server.ts";
import { sendMail } from "../shared/mail.server.ts";
import { startSignInByLink } from "../shared/sign-in-steps.server.ts";
import { readValue, signValue } from "../shared/signed-values.server.ts";
import { siteUrl } from "../shared/site.server.ts";
import { markAsUsed } from "../shared/tickets.server.ts";
import * as users from "../users.server.ts";
import { linkSent, openedLink } from "./pages.server.tsx";

const LINK_LIFETIME_SECONDS = 15 * 60;

/**
 * Sends a sign-in link. The response does not depend on whether the address is registered. An address gets at most ten
 * links in five minutes.
 */
export const send_link = server(async (email: string) => {
  const address = users.normalise(email);
  const base = siteUrl();
  await countAttempt("link", address);
  const user = await users.find(address);
  if (user) {
    const token = signValue("sign-in", user.email, LINK_LIFETIME_SECONDS);
    const link = new URL(openedLink.href({}, { query: { token } }), base);
    const text = `Sign in with this link. It is valid for 15 minutes, and works once:\n${link}`;
    sendMail({ to: user.email, subject: "Sign in", text });
  }
  throw redirect(linkSent.href());
});

/** Signs in with the token of a link, and returns true; if a code is required, it redirects to its page. Each link works once. */
export const open_link = server(async (token: string): Promise<boolean> => {
  const email = readValue("sign-in", token);
  const user = email === null ? undefined : await users.find(email);
  if (!user || !(await markAsUsed(token, LINK_LIFETIME_SECONDS))) {
    throw new RPCError("unauthenticated", "This link has expired, or was used before. Ask for another one.");
  }
  return startSignInByLink(user);
});
