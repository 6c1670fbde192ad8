export type { Claims, Json, LoginClaims, Role, User } from "./claims.ts";
export { issueCsrfToken, verifyCsrfToken } from "./csrf.ts";
export { sessionId } from "./current-session.ts";
export { deriveKey, keysFor, type PurposeKeys, secretFingerprint } from "./keys.ts";
export { type Session, session } from "./session.ts";
export { constantTimeEqual, hmacSha256, signToken, verifyToken } from "./token.ts";
