import { stripVTControlCharacters } from "node:util";
import { createLogger, type LogErrorOptions, type Logger, type Plugin } from "vite";
import type { ErrorLog } from "../errors/index.ts";

/** The options of {@link logViteErrors}. */
export interface LoggerOptions {
  readonly errors: ErrorLog;
  /** Loads the application, and prints why if it cannot be loaded. */
  readonly reload: () => Promise<unknown>;
}

/**
 * Prints the errors that Vite logs like all others: with the location as editors read it, and once. Vite logs an error of
 * a module for each request, with its own stack. If the project's Vite config creates its own environment,
 * Vite loads the application after an edit, and logs its own stack only: it is loaded once more for its error.
 */
export function logViteErrors(options: LoggerOptions): Plugin {
  return {
    name: "tsweb:log-vite-errors",
    config: ({ customLogger, logLevel }) => ({
      customLogger: withErrors(customLogger ?? createLogger(logLevel, { allowClearScreen: false }), options),
    }),
  };
}

function withErrors(logger: Logger, { errors, reload }: LoggerOptions): Logger {
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
      if (message.includes("An error happened during full reload")) {
        void reload();
        return;
      }
      if (isStyleSheetImport(message)) return; // the error of the style sheet follows
      if (isOfCompiledConfig(message)) return; // restartWithConfig() prints it with the lines of its source
      if (error && isOfModule(error)) errors.print(error);
      else logger.error(process.env.NO_COLOR ? stripVTControlCharacters(message) : message, options); // Rolldown ignores it
    },
  };
}

/** Returns whether a message contains what Vite inserts in a config, or the name of the file into which it compiles it. */
function isOfCompiledConfig(message: string): boolean {
  const text = stripVTControlCharacters(message);
  return text.includes("__vite_injected_original_") || /\.vite-temp\/vite\.config\./.test(text);
}

/** Returns whether a message is about an `@import` of a style sheet that Vite cannot resolve. */
function isStyleSheetImport(message: string): boolean {
  return stripVTControlCharacters(message).startsWith("Unable to resolve `@import ");
}

/** Returns whether an error is a mistake in a module. Others, such as one of the WebSocket server, are Vite's own. */
function isOfModule(error: object): boolean {
  return "loc" in error || ("id" in error && typeof error.id === "string") || "plugin" in error;
}
