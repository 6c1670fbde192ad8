export type { Bus } from "./bus/index.ts";
export { channel } from "./channel.ts";
export { LiveUpdates } from "./live-updates.ts";
export { publish } from "./publish.ts";
export { createRealtime, type Realtime } from "./realtime.ts";
