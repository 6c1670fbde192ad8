export { AppSessions, type RevokedUser, SESSION, SESSIONS, subjectOf } from "./app-sessions.ts";
export { type Authenticate, type BearerUser, identifyBearer, invalidTokenError, renewIdentity } from "./bearer.ts";
export { hashToken, namesBearer, readBearerToken } from "./bearer-token.ts";
export type { Claims, Json, LoginClaims, Role, User } from "./claims.ts";
export { issueCsrfToken, verifyCsrfToken } from "./csrf.ts";
export {
  countedUser,
  currentSession,
  currentTag,
  finalSession,
  finalSessionWatcher,
  hasSessionEnded,
  keepSession,
  pageTag,
  sessionId,
  sessionTag,
  watchFinalSession,
  watchSession,
} from "./current-session.ts";
export {
  currentRealm,
  deriveKey,
  keysFor,
  type PurposeKeys,
  rotationWarnings,
  secretFingerprint,
  secretFingerprints,
} from "./keys.ts";
export type { VerifiedSession } from "./payload.ts";
export { removeEndedSession, type Session, session } from "./session.ts";
export { constantTimeEqual, hmacSha256, MAX_TOKEN_CHARS, signToken, verifyToken } from "./token.ts";
