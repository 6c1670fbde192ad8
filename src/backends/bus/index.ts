export {
  type Bus,
  DEFAULT_HOURS,
  type Entry,
  type EntryListener,
  endOfRead,
  type Message,
  POSITION_PATTERN,
  type Position,
  type Progress,
  type ReadLimit,
  type ReadResult,
} from "./bus.ts";
export { EntryListeners, ForeignDataLog } from "./entry-listeners.ts";
export { createEpoch, createProducerId, formatBase36, isProducerId, MAX_BASE36, parseBase36 } from "./ids.ts";
export { OUTCOME_MS, type OutcomeStore } from "./outcomes.ts";
export type {
  PresenceEntry,
  PresenceListener,
  PresenceMember,
  PresenceState,
  PresenceStore,
  PresenceWatch,
} from "./presence.ts";
export { type PublishBatch, PublishQueue } from "./publish-queue.ts";
export { errorMessage, RetryPolicy } from "./retry-policy.ts";
export { coalesce } from "./retry-queue.ts";
export { REMEMBER_FINGERPRINT_MS, SecretsCheck } from "./secrets-check.ts";
export { startBus } from "./start-bus.ts";
