/**
 * A log that records its lines for a test.
 */
import type { AppLog } from "../../src/logging/index.ts";

/** A log line. */
export interface LogLine {
  readonly level: "info" | "warn" | "error";
  readonly fields: object;
  readonly message: string;
}

/** Returns a log and the array that receives its lines. */
export function recordedLog(): { readonly log: AppLog; readonly lines: LogLine[] } {
  const lines: LogLine[] = [];
  const write = (level: LogLine["level"]) => (fields: object, message: string) => {
    lines.push({ level, fields, message });
  };
  const refused: AppLog["refused"] = (reason, fields, message) => write("warn")({ reason, ...fields }, message);
  return { lines, log: { info: write("info"), warn: write("warn"), error: write("error"), refused } };
}
