export {
  type AppRate,
  type CallCounter,
  callCounter,
  checkAppRate,
  type FunctionLimits,
  type FunctionRate,
  functionLimits,
  requireLeft,
} from "./call-limits.ts";
export {
  addStore,
  createLimit,
  type Limit,
  type LimitOptions,
  type LimitState,
  limit,
  RATE_STORE,
  removeStore,
  setDevelopmentStore,
} from "./limit.ts";
