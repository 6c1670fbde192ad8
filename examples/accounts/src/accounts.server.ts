/** The functions of forms and scripts. Their parameters are the fields of the forms in `pages.server.tsx`, which show the results. */
import { RPCError, server, session } from "tsweb";
import { hash_password, verify_password } from "tsweb/auth";
import { clearAttempts, countAttempt } from "./shared/attempts.server.ts";
import { signIn, startSignIn } from "./shared/sign-in-steps.server.ts";
import * as users from "./users.server.ts";

/** Registers a user and signs them in. Returns true. */
export const register = server(async (email: string, name: string, password: string): Promise<boolean> => {
  const address = users.normalise(email);
  const errors: Record<string, string> = {};
  if (!users.isAddress(address)) errors.email = "Enter an email address, with an @ in it.";
  const problem = users.passwordProblem(password);
  if (problem) errors.password = problem;
  // The session cookie contains both, and a cookie has at most 4,096 bytes.
  if (address.length > users.MAX_EMAIL_CHARS) errors.email = "An email address has at most 254 characters.";
  if (name.length > 100) errors.name = "Use a name of at most 100 characters.";
  const messages = Object.values(errors);
  if (messages.length > 0) throw new RPCError("validation_error", messages.join(" "), { errors });

  const isNew = await users.add({ email: address, name, hash: await hash_password(password) });
  if (!isNew) throw new RPCError("conflict", "That email address is registered already.", { parameter: "email" });
  return signIn({ email: address, name, roles: [] });
});

/**
 * Signs a user in. Returns false for an unknown address and for a wrong password. Throws `rate_limited` after ten attempts
 * on an account in five minutes, from any client. If the account requires one-time codes, the session starts after the
 * code: see `enter_code`.
 */
export const login = server(async (email: string, password: string): Promise<boolean> => {
  const address = users.normalise(email);
  await countAttempt("password", address);
  const user = await users.find(address);
  // Without a user, this takes as long as with one, so that the time does not reveal who is registered.
  const isCorrect = await verify_password(password, user?.hash);
  if (!user || !isCorrect) return false;
  await clearAttempts("password", address);
  return startSignIn(user);
});

/** Signs the user out. */
export const logout = server(() => {
  session.logout();
});

/** Signs the user out in every browser. */
export const logout_everywhere = server({ auth_required: true }, async () => {
  await session.revoke(session.require().sub);
});

type UserReport = Pick<users.User, "email" | "name" | "roles" | "registered">;

/** Returns all users, without their password hashes. For admins only. */
export const admin_report = server(async (): Promise<UserReport[]> => {
  session.require("admin");
  const allUsers = await users.list();
  return allUsers.map(({ email, name, roles, registered }) => ({ email, name, roles, registered }));
});
