export type { Bus } from "./bus/index.ts";
export { channel } from "./channel.ts";
export { Live } from "./live.ts";
export { publish } from "./publish.ts";
export { configureBus, realtime } from "./realtime.ts";
