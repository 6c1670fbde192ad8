/**
 * Returns whether a user has all required roles.
 *
 * When unsure, it returns `false`: a claim that is not an array of strings has no roles. In particular, a string is not
 * searched, since `"superadmin".includes("admin")` is true.
 *
 * @param claim the claim `roles` of the session, of any type
 * @param required the names of the required roles; with none, every user passes
 * @see docs/protocol.md 7.6
 */
export function hasRoles(claim: unknown, required: readonly string[]): boolean {
  if (required.length === 0) return true;
  if (!isRoleList(claim)) return false;
  return required.every((role) => claim.includes(role));
}

/**
 * Returns why a user does not have all required roles, for the developer. It contains no value of the session.
 *
 * @param claim the claim `roles` of the session, of any type
 * @param required the names of the required roles
 */
export function missingRolesText(claim: unknown, required: readonly string[]): string {
  const login = `session.login(id, { roles: ${JSON.stringify(required)} })`;
  if (claim === undefined)
    return `The session has no claim "roles", which session.require reads. Sign in with ${login}.`;
  if (!isRoleList(claim)) return `The claim "roles" of the session is not an array of strings. Sign in with ${login}.`;
  const missing = required.filter((role) => !claim.includes(role)).map((role) => JSON.stringify(role));
  return `The claim "roles" of the session lacks ${missing.join(", ")}. It is the claim of the sign-in: ${login}.`;
}

function isRoleList(claim: unknown): claim is readonly string[] {
  return Array.isArray(claim) && claim.every((role) => typeof role === "string");
}
