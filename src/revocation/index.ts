export { fileRevocations } from "./file.ts";
export { RevocationLog, type RevocationNotifier, type RevocationSource } from "./log.ts";
export { createLogEpoch, memoryRevocations } from "./memory.ts";
export { formatLogPosition, parseLogPosition } from "./position.ts";
export type { CheckedSession } from "./revoked-subjects.ts";
export { KEEP_SECONDS, type LogPosition, type Revocation, type RevocationRead, type RevocationStore } from "./store.ts";
export { SUBJECT_PATTERN, subjectOfSignIn, subjectOfUser } from "./subjects.ts";
