/** The steps of a sign-in. */
import { session } from "tsweb";
import { requiresCode } from "../codes/store.server.ts";
import type { User } from "../users.server.ts";
import { issueTicket } from "./tickets.server.ts";

/** Continues after a correct password or link: signs the user in, or requires a one-time code if they are on. */
export async function startSignIn(user: User): Promise<void> {
  if (await requiresCode(user.email)) await issueTicket("code", user.email);
  else signIn(user);
}

/** Creates the session of a user who has passed all steps. */
export function signIn({ email, name, roles }: User): void {
  session.login(email, roles.length > 0 ? { name, roles } : { name });
}
