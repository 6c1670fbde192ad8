import { subjectOfSignIn, subjectOfUser } from "../revocation/index.ts";

/** Whom `session.revoke` signs out: a user by the id of `session.login`, or one sign-in by its `session.sid`. */
export type RevokedUser = string | { readonly sid: string };

/**
 * Returns the subject of a revocation.
 *
 * @throws TypeError if it is neither a user id nor a sign-in: nobody would be signed out
 */
export function subjectOf(who: unknown): string {
  if (typeof who === "string" && who !== "") return subjectOfUser(who);
  if (typeof who === "object" && who !== null) {
    const { sid, ...others } = who as { readonly sid?: unknown }; // any object can be read like this
    if (typeof sid === "string" && sid !== "" && Object.keys(others).length === 0) return subjectOfSignIn(sid);
  }
  throw new TypeError(
    `session.revoke: expected a user id or { sid }. Received: ${describe(who)}. Pass the user id of session.login to ` +
      "end all sign-ins of a user, or { sid } with a session.sid to end one.",
  );
}

function describe(value: unknown): string {
  if (value === "") return "an empty string";
  if (value === null) return "null";
  if (typeof value !== "object") return typeof value;
  return `an object with the members ${JSON.stringify(Object.keys(value))}`;
}
