export { redis } from "./bus.ts";
export { openSharedStore, type SharedStoreOptions } from "./shared-rate-store.ts";
