/** Sign-in with a password. It has a module of its own, so that the first page loads only this stub. */
import { server } from "tsweb";
import { verify_password } from "tsweb/auth";
import { clearAttempts, countAttempt } from "./shared/attempts.server.ts";
import { startSignIn } from "./shared/sign-in-steps.server.ts";
import * as users from "./users.server.ts";

/**
 * Signs a user in. Returns `false` for an unknown address and for a wrong password. Throws `rate_limited` after ten
 * attempts on an account in five minutes, from any client. If the account requires one-time codes, the session starts
 * after the code: see `enter_code`.
 */
export const login = server(async (email: string, password: string) => {
  const address = users.normalise(email);
  await countAttempt("password", address);
  const user = await users.find(address);
  // Without a user, this takes as long as with one, so that the time does not reveal who is registered.
  const isCorrect = await verify_password(password, user?.hash);
  if (!user || !isCorrect) return false;
  await clearAttempts("password", address);
  await startSignIn(user);
  return true;
});
