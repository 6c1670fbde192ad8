export { backoffMs } from "./backoff.ts";
export { ReachabilityLog } from "./reachability-log.ts";
