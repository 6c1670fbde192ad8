/**
 * How a user gets in.
 */
import { session } from "tsweb";
import { isOn } from "../codes/store.server.ts";
import type { User } from "../users.server.ts";
import { hand } from "./tickets.server.ts";

/**
 * Lets a user in whose password or link was right: at once, or where one-time codes are switched on,
 * to the page that asks for one.
 */
export async function admit(user: User): Promise<void> {
  if (await isOn(user.email)) await hand("code", user.email);
  else welcome(user);
}

/** Signs a user in who has proven all that is asked of them. */
export function welcome({ email, name, roles }: User): void {
  session.login(email, roles.length > 0 ? { name, roles } : { name });
}
