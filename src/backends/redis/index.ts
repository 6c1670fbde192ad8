export { redis } from "./bus.ts";
export { openSharedStore, type SharedStoreOptions } from "./rate-store.ts";
