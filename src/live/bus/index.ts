export { type Batch, type Bus, type Fresh, type Message, POSITION, type Position } from "./bus.ts";
export { type MemoryOptions, memory } from "./memory.ts";
export { openBus } from "./open.ts";
