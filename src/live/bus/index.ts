export { type ReadResult, type Bus, type Notification, type Message, POSITION_PATTERN, type Position } from "./bus.ts";
export { memory } from "./memory.ts";
export { openBus } from "./open.ts";
