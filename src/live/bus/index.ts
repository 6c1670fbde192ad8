export {
  type Bus,
  type Message,
  type Notification,
  POSITION_PATTERN,
  type Position,
  type ReadResult,
} from "./bus.ts";
export { memory } from "./memory.ts";
export { openBus } from "./open.ts";
