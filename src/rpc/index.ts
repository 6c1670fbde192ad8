export { bindArguments, readArgumentsField } from "./arguments.ts";
export { isStaleError, requireFunction, requireRateLeft, requireSameSignature, requireSignIn } from "./call-checks.ts";
export { callRedirect, redirectHeader } from "./call-redirect.ts";
export {
  callerError,
  callerErrorOfFunction,
  errorHeaders,
  errorResponse,
  errorStatus,
  showInDevelopment,
} from "./caller-error.ts";
export { type CheckCoverage, checkCoverage, uncheckedParts } from "./check-coverage.ts";
export { coerceTo, MISMATCH } from "./coerce.ts";
export { requireCsrfToken, trackSignIn } from "./csrf.ts";
export {
  applySchemas,
  type CallSettings,
  compileChecks,
  countAgainstRate,
  findFunction,
  handleCall,
} from "./handle-call.ts";
export { adviseOfMaxBody, maxCallBody, maxFormBody } from "./max-body.ts";
export {
  definitionOf,
  type FunctionDefinition,
  type float,
  type int,
  type ServerFunction,
  type ServerOptions,
  server,
} from "./server.ts";
export { checkTimeLimit, withTimeLimit } from "./time-limit.ts";
export { issuesByField, type StandardSchema, validateArguments } from "./validate.ts";
export { isSecretName } from "./value-path.ts";
