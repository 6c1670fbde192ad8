export { isMemoryBus, memory } from "./bus.ts";
