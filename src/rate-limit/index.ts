export { clientKey } from "./client-key.ts";
export { type Holding, holding } from "./hold.ts";
export { type MemoryRate, memoryRate } from "./memory.ts";
export { openRate } from "./open.ts";
export type { OpenRateStore, RateStore } from "./store.ts";
export type { Rate } from "./window.ts";
