export { formatBase36, MAX_BASE36, parseBase36 } from "./base36.ts";
export {
  type Bus,
  type Entry,
  type EntryListener,
  type Message,
  POSITION_PATTERN,
  type Position,
  type ReadLimit,
  type ReadResult,
} from "./bus.ts";
export { coalesce } from "./coalesce.ts";
export { DEFAULT_HOURS } from "./default-hours.ts";
export { EntryListeners } from "./entry-listeners.ts";
export { createEpoch } from "./epoch.ts";
export { errorMessage } from "./error-message.ts";
export { ForeignDataLog } from "./foreign-data.ts";
export { createProducerId, isProducerId } from "./producer-id.ts";
export { type PublishBatch, PublishQueue } from "./publish-queue.ts";
export { endOfRead } from "./read-limit.ts";
export { RetryPolicy } from "./retry-policy.ts";
export { REMEMBER_FINGERPRINT_MS, SecretsCheck } from "./secrets-check.ts";
export { startBus } from "./start-bus.ts";
