/** The steps of a sign-in. Each throws a redirect to the next step, so that nothing runs after it. */
import { redirect, request, session } from "tsweb";
import { requiresCode } from "../codes/store.server.ts";
import type { User } from "../users.server.ts";
import { issueTicket } from "./tickets.server.ts";

/** Continues after a correct password or link: signs the user in, or requires a one-time code if they are on. */
export async function startSignIn(user: User): Promise<never> {
  if (!(await requiresCode(user.email))) signIn(user);
  await issueTicket("code", user.email);
  const { next } = request.query;
  throw redirect(next ? `/code?${new URLSearchParams({ next })}` : "/code");
}

/** Creates the session of a user who has passed all steps. Returns to the page that required the sign-in. */
export function signIn({ email, name, roles }: Pick<User, "email" | "name" | "roles">): never {
  session.login(email, roles.length > 0 ? { name, roles } : { name });
  throw redirect(request.query.next, { or: "/account" });
}
