export { type AppLog, type ClosableAppLog, createAppLog } from "./app-log.ts";
export { droppedLogLines, LOG_LEVELS, type LogLevel, logEvent } from "./log-output.ts";
export { createConsoleLogger, createJsonLogger, type Logger, wrapLogger } from "./logger.ts";
export type { RefusalReason } from "./refusal-summary.ts";
export { serializeError } from "./serialize-error.ts";
