export { adviseOfMaxBody, bindArguments, maxCallBody, maxFormBody, readArgumentsField } from "./arguments.ts";
export {
  isStaleError,
  requireCsrfToken,
  requireFunction,
  requireSameSignature,
  requireSignIn,
  trackSignIn,
} from "./call-checks.ts";
export {
  callerError,
  callerErrorOfFunction,
  errorHeaders,
  errorResponse,
  errorStatus,
  keepsCookies,
} from "./caller-error.ts";
export { coerceTo, MISMATCH } from "./coerce.ts";
export {
  applySchemas,
  type CallSettings,
  compileChecks,
  countArguments,
  findFunction,
  handleCall,
} from "./handle-call.ts";
export {
  type FunctionRedirect,
  type FunctionResult,
  type FunctionRun,
  outcomeResponse,
  redirectedCallResponse,
} from "./run-function.ts";
export { OUTCOMES, runOnce } from "./run-once.ts";
export {
  definitionOf,
  type FunctionDefinition,
  type float,
  type int,
  isAllowed,
  requireSignature,
  type ServerFunction,
  type ServerOptions,
  server,
  unauthenticatedError,
} from "./server.ts";
export { type CheckCoverage, checkCoverage, uncheckedParts } from "./strict-checks.ts";
export { checkTimeLimit, withTimeLimit } from "./time-limit.ts";
export { isSecretName, issuesByField, type StandardSchema, validateArguments } from "./validate.ts";
