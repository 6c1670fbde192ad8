export type { Claims, Json, LoginClaims, Role, User } from "./claims.ts";
export { isSessionCookie } from "./cookie.ts";
export { issueCsrfToken, verifyCsrfToken } from "./csrf.ts";
export { deriveKey, keysFor, type Purpose, type PurposeKeys } from "./keys.ts";
export { type Session, session, sessionId } from "./session.ts";
export { decodeBase64Url, encodeBase64Url, mac, openToken, sameBytes, signToken } from "./token.ts";
