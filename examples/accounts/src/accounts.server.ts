/** Functions that the browser can call. They run on the server only; the browser gets stubs. */
import { RPCError, server, session } from "tsweb";
import { hash_password } from "tsweb/auth";
import * as users from "./users.server.ts";

/** Registers a user and signs them in. */
export const register = server(async (email: string, name: string, password: string) => {
  const address = users.normalise(email);
  if (!users.isAddress(address)) throw invalid("email", "Enter an email address, with an @ in it.");
  if ([...password].length < 8) throw invalid("password", "Choose a password of at least 8 characters.");
  // The session cookie contains both, and a cookie has at most 4,096 bytes.
  if (address.length > users.MAX_EMAIL_CHARS) throw invalid("email", "An email address has at most 254 characters.");
  if (name.length > 100) throw invalid("name", "Use a name of at most 100 characters.");

  const isNew = await users.add({ email: address, name, hash: await hash_password(password) });
  if (!isNew) throw new RPCError("conflict", "That email address is registered already.", { parameter: "email" });
  session.login(address, { name });
  return true;
});

/** Signs the user out. */
export const logout = server(() => {
  session.logout();
});

/** Returns all users, without their password hashes. For admins only. */
export const admin_report = server(async () => {
  session.require("admin");
  const allUsers = await users.list();
  return allUsers.map(({ email, name, roles, registered }) => ({ email, name, roles, registered }));
});

/** Returns an error for one parameter, with the same details as tsweb's own validation errors. */
function invalid(parameter: string, message: string): RPCError {
  return new RPCError("validation_error", message, { parameter });
}
