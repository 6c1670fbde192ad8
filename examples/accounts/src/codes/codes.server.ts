/** One-time codes: the functions of the forms. */
import { randomBytes } from "node:crypto";
import { RPCError, server, session } from "tsweb";
import { verify_totp } from "tsweb/auth";
import { clearAttempts, countAttempt } from "../shared/attempts.server.ts";
import { signIn } from "../shared/sign-in-steps.server.ts";
import { markAsUsed, readTicket, takeTicket } from "../shared/tickets.server.ts";
import * as users from "../users.server.ts";
import * as store from "./store.server.ts";

/** @see RFC 4226, section 4, requirement 6 */
const SECRET_BYTES = 20;

/** A code is valid in three steps of 30 seconds. */
const CODE_LIFETIME_SECONDS = 90;

/** Creates a secret for the user's authenticator app. Codes are required only after `switch_codes_on`. */
export const set_up_codes = server({ auth_required: true }, async () => {
  if (await store.savePending(session.require().sub, randomBytes(SECRET_BYTES))) return;
  throw new RPCError("conflict", "One-time codes are switched on already.");
});

/** Switches codes on, with a code of the app. */
export const switch_codes_on = server({ auth_required: true }, async (code: string) => {
  const { sub } = session.require();
  await useCode(sub, "pending", code);
  await store.activate(sub);
});

/** Switches codes off. An open browser alone is not enough: the app is needed. */
export const switch_codes_off = server({ auth_required: true }, async (code: string) => {
  const { sub } = session.require();
  await useCode(sub, "active", code);
  await store.remove(sub);
});

/**
 * Completes the sign-in after a password or a link. Returns true. If the password was changed meanwhile, the sign-in has to start
 * again: somebody else may have started it with the old one.
 */
export const enter_code = server(async (code: string): Promise<boolean> => {
  const ticket = await readTicket("code");
  const [fingerprint, email = ""] = ticket?.split(" ") ?? [];
  const user = await users.find(email);
  if (!user || users.fingerprint(user.hash) !== fingerprint) throw expiredError();
  await useCode(email, "active", code);
  if ((await takeTicket("code")) !== ticket) throw expiredError();
  return signIn(user);
});

function expiredError(): RPCError {
  return new RPCError("unauthenticated", "That took too long. Sign in from the start.");
}

/**
 * Checks a code, and marks it as used. Allows ten attempts in five minutes.
 *
 * @throws RPCError `validation_error` for a wrong or used code. The app shows the next one within 30 seconds.
 */
async function useCode(email: string, state: "active" | "pending", code: string): Promise<void> {
  await countAttempt("code", email);
  const digits = code.replaceAll(" ", "");
  const secret = await store.findSecret(email, state);
  const isCorrect = secret !== null && verify_totp(secret, digits);
  // A code works once, so that an attacker who has seen the user type it cannot use it.
  if (!isCorrect || !(await markAsUsed(`code ${email} ${digits}`, CODE_LIFETIME_SECONDS))) {
    const message = "That code is wrong, or was used. Wait for the next one.";
    throw new RPCError("validation_error", message, { parameter: "code" });
  }
  await clearAttempts("code", email);
}
