export { type AppRate, type CallCounter, callCounter, checkAppRate, requireLeft } from "./call-limits.ts";
export { type FunctionLimits, type FunctionRate, functionLimits } from "./function-limits.ts";
