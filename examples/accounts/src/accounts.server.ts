/**
 * What the browser can call. This module runs on the server only; the browser gets stubs.
 */
import { RPCError, server, session } from "tsweb";
import { hash_password } from "tsweb/auth";
import * as users from "./users.server.ts";

/** Registers a user and signs them in. */
export const register = server(async (email: string, name: string, password: string) => {
  const address = users.normalise(email);
  if (!users.isAddress(address)) throw wrong("email", "Enter an email address, with an @ in it.");
  if ([...password].length < 8) throw wrong("password", "Choose a password of at least 8 characters.");
  // The session carries both in a cookie, which has 4 KB.
  if (address.length > users.MAX_EMAIL_CHARS)
    throw wrong("email", "That address is longer than an email address can be.");
  if (name.length > 100) throw wrong("name", "Use a name of at most 100 characters.");

  const isNew = await users.add({ email: address, name, hash: await hash_password(password) });
  if (!isNew) throw new RPCError("conflict", "That email address is registered already.", { parameter: "email" });
  session.login(address, { name });
  return true;
});

/** Signs the user out. */
export const logout = server(() => {
  session.logout();
});

/** Lists who is registered. For admins only. */
export const admin_report = server(async () => {
  session.require("admin");
  const everyone = await users.all();
  return everyone.map(({ email, name, roles, registered }) => ({ email, name, roles, registered }));
});

/** Makes the error for one parameter, named as the framework names it in its own. */
function wrong(parameter: string, message: string): RPCError {
  return new RPCError("validation_error", message, { parameter });
}
