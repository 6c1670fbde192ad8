export {
  type Bus,
  type Entry,
  type EntryListener,
  endOfRead,
  type Message,
  type OutcomeStore,
  POSITION_PATTERN,
  type Position,
  type PresenceMember,
  type PresenceStore,
  type Progress,
  type ReadLimit,
  type ReadResult,
} from "./bus/index.ts";
export { isMemoryBus, memory } from "./memory/index.ts";
export { type BusSource, openBus, openRateStore, redisOf, startBus } from "./open-bus.ts";
