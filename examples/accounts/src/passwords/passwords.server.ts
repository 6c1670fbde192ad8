/** Forgotten passwords: the functions of the forms. */
import { RPCError, redirect, server } from "tsweb";
import { hash_password } from "tsweb/auth";
import { proveOwnership } from "../address/ownership.server.ts";
import { clearAttempts, countAttempt } from "../shared/attempts.server.ts";
import { sendMail } from "../shared/mail.server.ts";
import { readValue, signValue } from "../shared/signed-values.server.ts";
import { siteUrl } from "../shared/site.server.ts";
import * as users from "../users.server.ts";
import { newPassword, passwordChanged, resetSent } from "./pages.server.tsx";

const LINK_LIFETIME_SECONDS = 30 * 60;

/**
 * Sends a link to choose a new password, at most ten in five minutes to one address. The response, and the work before it,
 * do not depend on whether the address is registered.
 */
export const forgot_password = server(async (email: string) => {
  const address = users.normalise(email);
  const link = new URL(newPassword.href(), siteUrl());
  await countAttempt("reset", address);
  const user = await users.find(address);
  const value = user ? `${users.fingerprint(user.hash)} ${user.email}` : `${users.fingerprint("")} nobody`;
  link.searchParams.set("token", signValue("reset", value, LINK_LIFETIME_SECONDS));
  const text = `Choose a new password with this link. It is valid for 30 minutes, and works once:\n${link}`;
  if (user) sendMail({ to: user.email, subject: "Choose a new password", text });
  throw redirect(resetSent.href());
});

/**
 * Changes a password with the token of a link, and signs the user out everywhere. The token has a fingerprint of the hash of
 * the old password, so it works once, and no longer after any other change of the password.
 */
export const reset_password = server(async (token: string, password: string) => {
  const problem = users.passwordProblem(password);
  if (problem) throw new RPCError("validation_error", problem, { parameter: "password" });
  const [expected, email = ""] = readValue("reset", token)?.split(" ") ?? [];
  const user = await users.find(email);
  if (!user || users.fingerprint(user.hash) !== expected) throw expiredError();
  if (!(await proveOwnership(user, await hash_password(password)))) throw expiredError();
  await clearAttempts("password", email);
  throw redirect(passwordChanged.href());
});

function expiredError(): RPCError {
  return new RPCError("unauthenticated", "This link has expired, or was used before. Ask for another one.");
}
