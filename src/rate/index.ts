export { clientKey } from "./client-key.ts";
export { memoryRate, type RateStore } from "./memory.ts";
export { checkRate, type Rate } from "./window.ts";
