export { clientKey } from "./client-key.ts";
export { openRate } from "./open.ts";
export type { OpenRateStore, RateStore } from "./store.ts";
export type { Rate } from "./window.ts";
