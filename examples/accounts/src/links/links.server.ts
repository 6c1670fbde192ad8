/** Sign-in links: the functions of the forms. */
import { randomBytes } from "node:crypto";
import { RPCError, redirect, server } from "tsweb";
import { issue_magic_token, verify_magic_token } from "tsweb/auth";
import { countAttempt } from "../shared/attempts.server.ts";
import { startSignIn } from "../shared/sign-in-steps.server.ts";
import { siteUrl } from "../shared/site.server.ts";
import { markAsUsed } from "../shared/tickets.server.ts";
import * as users from "../users.server.ts";

const LINK_LIFETIME_SECONDS = 15 * 60;

/** Prefix of the subject, so that a token for another purpose is not valid as a sign-in link. */
const SUBJECT_PREFIX = "sign-in ";

/** In development, WEB_AUTH_SECRET may be missing. Links are then valid until the server restarts. */
const secret = process.env.WEB_AUTH_SECRET || randomBytes(32).toString("hex");

/**
 * Sends a sign-in link. The example has no mail server, so it writes the link to the log. The response does not
 * depend on whether the address is registered. An address gets at most ten links in five minutes.
 */
export const send_link = server(async (email: string) => {
  const address = users.normalise(email);
  const base = siteUrl();
  await countAttempt("link", address);
  const user = await users.find(address);
  if (user) {
    const token = issue_magic_token(secret, SUBJECT_PREFIX + user.email, { ttl: LINK_LIFETIME_SECONDS });
    console.info(`A link for ${user.email}: ${new URL(`/link/open?token=${token}`, base)}`);
  }
  throw redirect("/link/sent");
});

/** Signs in with the token of a link, and returns true; if a code is required, it redirects to its page. Each link works once. */
export const open_link = server(async (token: string): Promise<boolean> => {
  const subject = verify_magic_token(secret, token);
  const user = subject?.startsWith(SUBJECT_PREFIX) ? await users.find(subject.slice(SUBJECT_PREFIX.length)) : undefined;
  if (!user || !(await markAsUsed(token, LINK_LIFETIME_SECONDS))) {
    throw new RPCError("unauthenticated", "This link has expired, or was used before. Ask for another one.");
  }
  return startSignIn(user);
});
