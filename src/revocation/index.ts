export { fileRevocations } from "./file.ts";
export { RevocationLog, type RevocationNotifier, type RevocationSource } from "./log.ts";
export type { CheckedSession } from "./revoked-subjects.ts";
export {
  createLogEpoch,
  formatLogPosition,
  KEEP_SECONDS,
  type LogPosition,
  memoryRevocations,
  parseLogPosition,
  type Revocation,
  type RevocationRead,
  type RevocationStore,
  SUBJECT_PATTERN,
  subjectOfSignIn,
  subjectOfUser,
} from "./store.ts";
