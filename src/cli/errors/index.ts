export { type FixedOptions, fixOptions, loadingConfig, locateConfigError, withConfigStacks } from "./config-errors.ts";
export { ErrorLog } from "./error-log.ts";
export { type ExplainedError, environmentErrorText, explainError, heading, isThrownError } from "./explain-error.ts";
export type { SourcePosition } from "./stack-frames.ts";
export { explainViteError } from "./vite-errors.ts";
