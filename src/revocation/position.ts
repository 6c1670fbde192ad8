import type { LogPosition } from "./store.ts";

const POSITION = /^([0-9a-z]{1,20})\.([0-9a-z]{1,9})$/;

/** Positions of a log have a smaller `seq`: a time in milliseconds until the year 2248. */
export const SEQ_LIMIT = 2 ** 43;

/** Returns a position as session cookies contain it. @see docs/protocol.md 7.3 */
export function formatLogPosition({ epoch, seq }: LogPosition): string {
  return `${epoch}.${seq.toString(36)}`;
}

/** Returns the position of a session cookie; `null` for any other value, also one of another type. */
export function parseLogPosition(value: unknown): LogPosition | null {
  const [, epoch, digits] = typeof value === "string" ? (POSITION.exec(value) ?? []) : [];
  if (epoch === undefined || digits === undefined) return null;
  const seq = Number.parseInt(digits, 36);
  return seq < SEQ_LIMIT ? { epoch, seq } : null;
}
