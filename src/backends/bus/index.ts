export {
  type Bus,
  DEFAULT_HOURS,
  type Entry,
  type EntryListener,
  endOfRead,
  type Message,
  OUTCOME_MS,
  type OutcomeStore,
  POSITION_PATTERN,
  type Position,
  type PresenceEntry,
  type PresenceListener,
  type PresenceMember,
  type PresenceState,
  type PresenceStore,
  type PresenceWatch,
  type Progress,
  type ReadLimit,
  type ReadResult,
} from "./bus.ts";
export { createEpoch, createProducerId, formatBase36, isProducerId, MAX_BASE36, parseBase36 } from "./ids.ts";
export { type PublishBatch, PublishQueue } from "./publish-queue.ts";
export { errorMessage, RetryPolicy } from "./retry-policy.ts";
export { REMEMBER_FINGERPRINT_MS, SecretsCheck } from "./secrets-check.ts";
export { ForeignDataLog, TopicListeners } from "./topic-listeners.ts";
