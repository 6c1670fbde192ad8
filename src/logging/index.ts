export {
  type AppLog,
  type ClosableAppLog,
  createAppLog,
  isPublishFailure,
  LineSummary,
  markPublishFailure,
  type RefusalReason,
} from "./app-log.ts";
export { droppedLogLines, LOG_LEVELS, type LogLevel, logEvent } from "./log-output.ts";
export {
  backgroundLog,
  type ConsoleLogger,
  createConsoleLogger,
  createJsonLogger,
  type Logger,
  wrapLogger,
} from "./logger.ts";
export { serializeError } from "./serialize-error.ts";
