export { type AppRate, type CallCounter, callCounter, checkAppRate, requireLeft } from "./call-limits.ts";
export { type FunctionLimits, type FunctionRate, functionLimits } from "./function-limits.ts";
export { createLimit, type Limit, type LimitOptions, type LimitState, limit } from "./limit.ts";
export { addStore, RATE_STORE, removeStore, setDevelopmentStore } from "./open-stores.ts";
