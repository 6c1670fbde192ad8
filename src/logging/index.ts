export { type AppLog, type ClosableAppLog, createAppLog, type RefusalReason } from "./app-log.ts";
export { backgroundLog } from "./background-log.ts";
export { LineSummary } from "./line-summary.ts";
export { droppedLogLines, LOG_LEVELS, type LogLevel, logEvent } from "./log-output.ts";
export { type ConsoleLogger, createConsoleLogger, createJsonLogger, type Logger, wrapLogger } from "./logger.ts";
export { isPublishFailure, markPublishFailure } from "./publish-failures.ts";
export { serializeError } from "./serialize-error.ts";
