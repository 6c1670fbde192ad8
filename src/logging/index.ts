export { createConsoleLogger, createJsonLogger, type Logger } from "./logger.ts";
