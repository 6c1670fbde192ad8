export { isMemoryBus, MAX_STORED_BYTES, MemoryOutcomes, memory } from "./bus.ts";
