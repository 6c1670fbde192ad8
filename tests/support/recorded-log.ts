/**
 * A log that keeps its lines, to be looked at by a test.
 */
import type { Logger } from "../../src/logging/logger.ts";

/** One line. */
export interface LogLine {
  readonly level: "info" | "warn" | "error";
  readonly fields: object;
  readonly message: string;
}

/** Gives a log, and the lines that were written to it. */
export function recordedLog(): { readonly log: Logger; readonly lines: LogLine[] } {
  const lines: LogLine[] = [];
  const write = (level: LogLine["level"]) => (fields: object, message: string) => {
    lines.push({ level, fields, message });
  };
  return { lines, log: { info: write("info"), warn: write("warn"), error: write("error") } };
}
