/**
 * Sign-in by a link: what the browser can call.
 */
import { randomBytes } from "node:crypto";
import { RPCError, server } from "tsweb";
import { issue_magic_token, verify_magic_token } from "tsweb/auth";
import { admit } from "../shared/admission.server.ts";
import { attempt } from "../shared/attempts.server.ts";
import { site } from "../shared/site.server.ts";
import { spend } from "../shared/tickets.server.ts";
import * as users from "../users.server.ts";

const LINK_SECONDS = 15 * 60;

/** So that a token which is for something else is no sign-in. */
const PURPOSE = "sign-in ";

/** In development, where there may be none, links hold until the server starts again. */
const secret = process.env.WEB_AUTH_SECRET || randomBytes(32).toString("hex");

/**
 * Sends a link that signs in. There is no mail server here: it is written to the log. The answer is
 * the same whether the address is registered or not, and nobody gets more than ten in five minutes.
 */
export const send_link = server(async (email: string) => {
  const address = users.normalise(email);
  const here = site();
  await attempt("link", address);
  const user = await users.find(address);
  if (!user) return;
  const token = issue_magic_token(secret, PURPOSE + user.email, { ttl: LINK_SECONDS });
  // Behind the #, where no server, log or proxy sees it but the page itself.
  console.info(`A link for ${user.email}: ${new URL(`/link/open#${token}`, here)}`);
});

/** Signs in whoever presses the button on the page that a link leads to. The link is spent by it. */
export const open_link = server(async (token: string) => {
  const subject = verify_magic_token(secret, token);
  const user = subject?.startsWith(PURPOSE) ? await users.find(subject.slice(PURPOSE.length)) : undefined;
  if (!user || !(await spend(token, LINK_SECONDS))) {
    throw new RPCError("unauthenticated", "This link has expired, or was used before. Ask for another one.");
  }
  await admit(user);
});
