/**
 * A log that keeps its lines, to be looked at by a test.
 */
import type { Log } from "../../src/logging/log.ts";

/** One line. */
export interface LogLine {
  readonly level: "info" | "warn" | "error";
  readonly fields: object;
  readonly message: string;
}

/** Gives a log, and the lines that were written to it. */
export function keptLog(): { readonly log: Log; readonly lines: LogLine[] } {
  const lines: LogLine[] = [];
  const write = (level: LogLine["level"]) => (fields: object, message: string) => {
    lines.push({ level, fields, message });
  };
  return { lines, log: { info: write("info"), warn: write("warn"), error: write("error") } };
}
