export { logEvent } from "./log-output.ts";
export { createConsoleLogger, createJsonLogger, type Logger } from "./logger.ts";
