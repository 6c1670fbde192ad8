export { fileRevocations } from "./file.ts";
export { RevocationLog, type RevocationNotifier, type RevocationSource } from "./log.ts";
export { createLogEpoch, memoryRevocations } from "./memory.ts";
export type { CheckedSession } from "./revoked-subjects.ts";
export {
  formatLogPosition,
  KEEP_SECONDS,
  type LogPosition,
  parseLogPosition,
  type Revocation,
  type RevocationRead,
  type RevocationStore,
  SUBJECT_PATTERN,
  subjectOfSignIn,
  subjectOfUser,
} from "./store.ts";
