export { callerErrorOfFunction, errorJson } from "./caller-error.ts";
export { type CheckCoverage, checkCoverage, uncheckedParts } from "./check-coverage.ts";
export { type CallSettings, compileChecks, handleCall } from "./handle-call.ts";
export {
  definitionOf,
  type FunctionDefinition,
  type float,
  type int,
  type ServerFunction,
  type ServerOptions,
  server,
} from "./server.ts";
export { checkTimeLimit } from "./time-limit.ts";
export type { StandardSchema } from "./validate.ts";
