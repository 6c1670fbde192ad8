export {
  type Bus,
  type Entry,
  type Message,
  POSITION_PATTERN,
  type Position,
  type ReadLimit,
  type ReadResult,
} from "./bus.ts";
export { isMemoryBus, memory } from "./memory.ts";
export { type BusSource, openBus, redisOf } from "./open.ts";
export { endOfRead } from "./read-limit.ts";
export { startBus } from "./start-bus.ts";
