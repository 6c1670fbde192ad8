/**
 * Sign-in with a password. It stands apart, so that the page which most visitors see first loads no
 * other stubs.
 */
import { server } from "tsweb";
import { verify_password } from "tsweb/auth";
import { admit } from "./shared/admission.server.ts";
import { attempt, forgive } from "./shared/attempts.server.ts";
import * as users from "./users.server.ts";

/**
 * Signs a user in; false for an unknown address and for a wrong password alike. After ten attempts
 * on an account in five minutes it is `rate_limited`, wherever they come from. Where the account
 * asks for one-time codes, the session begins with the code: see `enter_code`.
 */
export const login = server(async (email: string, password: string) => {
  const address = users.normalise(email);
  await attempt("password", address);
  const user = await users.find(address);
  // Without a user this is false at the same cost, so that the time taken does not tell who is registered.
  const isRight = await verify_password(password, user?.hash);
  if (!user || !isRight) return false;
  await forgive("password", address);
  await admit(user);
  return true;
});
