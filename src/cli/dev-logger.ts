import { createLogger, type LogErrorOptions, type Logger, type Plugin } from "vite";
import type { ErrorLog } from "./error-log.ts";

/**
 * Prints the errors that Vite logs like all others: with the location as editors read it, and once. Vite logs an error of
 * a module for each request, with its own stack.
 */
export function logViteErrors(errors: ErrorLog): Plugin {
  return {
    name: "tsweb:log-vite-errors",
    config: ({ customLogger, logLevel }) => ({
      customLogger: withErrors(customLogger ?? createLogger(logLevel, { allowClearScreen: false }), errors),
    }),
  };
}

function withErrors(logger: Logger, errors: ErrorLog): Logger {
  return {
    ...logger,
    // Vite assigns to it, and a copy of a getter would keep its first value.
    get hasWarned() {
      return logger.hasWarned;
    },
    set hasWarned(value) {
      logger.hasWarned = value;
    },
    error(message: string, options?: LogErrorOptions) {
      const error = options?.error;
      if (error && isOfModule(error)) errors.print(error);
      else logger.error(message, options);
    },
  };
}

/** Returns whether an error is a mistake in a module. Others, such as one of the WebSocket server, are Vite's own. */
function isOfModule(error: object): boolean {
  return "loc" in error || ("id" in error && typeof error.id === "string") || "plugin" in error;
}
