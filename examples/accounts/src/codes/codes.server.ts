/**
 * One-time codes: what the browser can call.
 */
import { randomBytes } from "node:crypto";
import { RPCError, server, session } from "tsweb";
import { verify_totp } from "tsweb/auth";
import { welcome } from "../shared/admission.server.ts";
import { attempt, forgive } from "../shared/attempts.server.ts";
import { look, spend, take } from "../shared/tickets.server.ts";
import * as users from "../users.server.ts";
import { base32 } from "./base32.ts";
import * as store from "./store.server.ts";

/** As RFC 4226 recommends. */
const SECRET_BYTES = 20;

/** A code is right in three steps of 30 seconds, and once. */
const CODE_SECONDS = 90;

/** Makes a secret for the user's authenticator app. Nothing asks for codes until one of it was right. */
export const set_up_codes = server({ auth_required: true }, async () => {
  const { sub } = session.require();
  const secret = randomBytes(SECRET_BYTES);
  if (!(await store.setUp(sub, secret))) throw new RPCError("conflict", "One-time codes are switched on already.");
  const text = base32(secret);
  const label = encodeURIComponent(`Accounts:${sub}`);
  return { secret: text, link: `otpauth://totp/${label}?secret=${text}&issuer=Accounts` };
});

/** Switches codes on, once the app shows a right one; false for a wrong one. */
export const switch_codes_on = server({ auth_required: true }, async (code: string) => {
  const { sub } = session.require();
  if (!(await isRight(sub, "set up", code))) return false;
  await store.switchOn(sub);
  return true;
});

/** Switches codes off; false for a wrong one. Whoever finds the browser open cannot, without the app. */
export const switch_codes_off = server({ auth_required: true }, async (code: string) => {
  const { sub } = session.require();
  if (!(await isRight(sub, "on", code))) return false;
  await store.remove(sub);
  return true;
});

/** Signs in the user whose password or link was right before; false for a wrong code. */
export const enter_code = server(async (code: string) => {
  const email = await look("code");
  if (email === null) throw new RPCError("unauthenticated", "That took too long. Sign in from the start.");
  if (!(await isRight(email, "on", code))) return false;
  const user = (await take("code")) === email ? await users.find(email) : undefined;
  if (!user) throw new RPCError("unauthenticated", "That took too long. Sign in from the start.");
  welcome(user);
  return true;
});

/** Answers whether a code is right and was not used before; ten attempts in five minutes, then no more. */
async function isRight(email: string, state: "on" | "set up", code: string): Promise<boolean> {
  await attempt("code", email);
  const digits = code.replaceAll(" ", "");
  const secret = await store.secretOf(email, state);
  if (secret === null || !verify_totp(secret, digits)) return false;
  // Whoever looked over the user's shoulder is too late.
  if (!(await spend(`code ${email} ${digits}`, CODE_SECONDS))) return false;
  await forgive("code", email);
  return true;
}
