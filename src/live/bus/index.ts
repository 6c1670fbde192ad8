export { type Batch, type Bus, type Fresh, type Message, POSITION, type Position } from "./bus.ts";
export { memory } from "./memory.ts";
export { openBus } from "./open.ts";
