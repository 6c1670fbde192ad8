/** One-time codes: the functions that the browser can call. */
import { randomBytes } from "node:crypto";
import { RPCError, server, session } from "tsweb";
import { verify_totp } from "tsweb/auth";
import { clearAttempts, countAttempt } from "../shared/attempts.server.ts";
import { signIn } from "../shared/sign-in-steps.server.ts";
import { markAsUsed, readTicket, takeTicket } from "../shared/tickets.server.ts";
import * as users from "../users.server.ts";
import { base32 } from "./base32.ts";
import * as store from "./store.server.ts";

/** @see RFC 4226, section 4, requirement 6 */
const SECRET_BYTES = 20;

/** A code is valid in three steps of 30 seconds. */
const CODE_LIFETIME_SECONDS = 90;

/** Creates a secret for the user's authenticator app. Codes are required only after `switch_codes_on`. */
export const set_up_codes = server({ auth_required: true }, async () => {
  const { sub } = session.require();
  const secret = randomBytes(SECRET_BYTES);
  if (!(await store.savePending(sub, secret)))
    throw new RPCError("conflict", "One-time codes are switched on already.");
  const encodedSecret = base32(secret);
  const label = encodeURIComponent(`Accounts:${sub}`);
  return { secret: encodedSecret, link: `otpauth://totp/${label}?secret=${encodedSecret}&issuer=Accounts` };
});

/** Switches codes on. Returns `false` if the code is wrong. */
export const switch_codes_on = server({ auth_required: true }, async (code: string) => {
  const { sub } = session.require();
  if (!(await useCode(sub, "pending", code))) return false;
  await store.activate(sub);
  return true;
});

/** Switches codes off. Returns `false` if the code is wrong. An open browser alone is not enough: the app is needed. */
export const switch_codes_off = server({ auth_required: true }, async (code: string) => {
  const { sub } = session.require();
  if (!(await useCode(sub, "active", code))) return false;
  await store.remove(sub);
  return true;
});

/** Completes the sign-in after a password or a link. Returns `false` if the code is wrong. */
export const enter_code = server(async (code: string) => {
  const email = await readTicket("code");
  if (email === null) throw new RPCError("unauthenticated", "That took too long. Sign in from the start.");
  if (!(await useCode(email, "active", code))) return false;
  const user = (await takeTicket("code")) === email ? await users.find(email) : undefined;
  if (!user) throw new RPCError("unauthenticated", "That took too long. Sign in from the start.");
  signIn(user);
  return true;
});

/** Returns whether a code is valid and unused, and marks it as used. Allows ten attempts in five minutes. */
async function useCode(email: string, state: "active" | "pending", code: string): Promise<boolean> {
  await countAttempt("code", email);
  const digits = code.replaceAll(" ", "");
  const secret = await store.findSecret(email, state);
  if (secret === null || !verify_totp(secret, digits)) return false;
  // A code works once, so that an attacker who has seen the user type it cannot use it.
  if (!(await markAsUsed(`code ${email} ${digits}`, CODE_LIFETIME_SECONDS))) return false;
  await clearAttempts("code", email);
  return true;
}
