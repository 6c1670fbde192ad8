export { backoffMs } from "./backoff.ts";
export { ReachabilityLog } from "./reachability-log.ts";
export { UnreachableError } from "./unreachable-error.ts";
export { waitAtMost } from "./wait-at-most.ts";
