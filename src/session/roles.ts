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
  if (!Array.isArray(claim) || !claim.every((role) => typeof role === "string")) return false;
  return required.every((role) => claim.includes(role));
}
