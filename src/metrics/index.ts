export { Metrics } from "./metrics.ts";
export { relayMetrics } from "./relay.ts";
