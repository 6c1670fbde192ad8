import { randomBytes } from "node:crypto";
import { formatBase36 } from "./base36.ts";

/**
 * Returns an identifier for a history that starts now: 13 base-36 digits, nine for the time and four
 * random ones. The positions of a later history compare as later, because an epoch is their prefix.
 *
 * @param nowMs milliseconds since the Unix epoch
 */
export function createEpoch(nowMs: number = Date.now()): string {
  const random = randomBytes(4).readUInt32BE() % 36 ** 4;
  return formatBase36(nowMs) + random.toString(36).padStart(4, "0");
}
