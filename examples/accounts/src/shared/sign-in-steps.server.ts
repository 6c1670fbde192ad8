/** The steps of a sign-in. */
import { redirect, request, session } from "tsweb";
import { code } from "../codes/pages.server.tsx";
import { requiresCode } from "../codes/store.server.ts";
import { fingerprint, type User } from "../users.server.ts";
import { issueTicket } from "./tickets.server.ts";

/**
 * Continues after a correct password, link or provider: signs the user in, or redirects to the page for a one-time code if they
 * are on.
 *
 * @param next the path to continue at after the code, from the client
 */
export async function startSignIn(user: User, next = request.query.next): Promise<true> {
  if (!(await requiresCode(user.email))) return signIn(user);
  await issueTicket("code", `${fingerprint(user.hash)} ${user.email}`);
  throw redirect(code.href({}, { query: { next } }));
}

/** Starts the session of a user who has passed all steps. */
export function signIn({ email, name, roles }: Pick<User, "email" | "name" | "roles">): true {
  session.login(email, roles.length > 0 ? { name, roles } : { name });
  return true;
}

/** Continues after a sign-in link, as {@link startSignIn}. Whoever has only the link cannot confirm the address. */
export async function startSignInByLink(user: User): Promise<true> {
  await startSignIn(user);
  const { name, roles } = session.require();
  session.login(user.email, { name, by_link: true, ...(roles && { roles }) });
  return true;
}
