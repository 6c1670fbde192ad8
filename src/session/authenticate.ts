import {
  type ApplicationClaims,
  checkClaims,
  checkUserId,
  isPlainObject,
  isRoleList,
  type Json,
  type ReservedClaims,
} from "./claims.ts";

/** The user of a bearer token: the user id, and the claims that `session.login` would receive. */
export type BearerUser = { readonly sub: string } & ApplicationClaims & Omit<ReservedClaims, "sub">;

/**
 * Returns the user of a bearer token, or `null` for a token that is not valid.
 *
 * It decides each request that carries a token, and open streams every 60 seconds. It runs in the request, in which nobody is
 * signed in yet.
 */
export type Authenticate = (token: string) => BearerUser | null | undefined | Promise<BearerUser | null | undefined>;

/** The option, for messages. */
const OPTION = "authenticate of new App";

/**
 * Returns what `session.user()` returns for what `authenticate` has returned.
 *
 * @throws TypeError that names the problem, but never a value, for what `session.login` would refuse
 */
export function checkBearerUser(answer: unknown): Record<string, Json> & { readonly sub: string } {
  if (!isPlainObject(answer)) {
    throw new TypeError(
      `${OPTION}: it returned ${describe(answer)}. Return a plain object, for example { sub: key.user_id, roles: key.roles }, ` +
        "or null for a token that is not valid.",
    );
  }
  const { sub, ...claims } = answer;
  checkUserId(sub, OPTION);
  checkClaims(claims, OPTION);
  const { roles } = claims;
  if (roles !== undefined && !isRoleList(roles)) {
    throw new TypeError(`${OPTION}: claims.roles must be an array of strings. session.require reads it.`);
  }
  return JSON.parse(JSON.stringify({ sub, ...claims })); // of these types: checked above
}

function describe(value: unknown): string {
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an instance of a class" : `a value of type ${typeof value}`;
}
