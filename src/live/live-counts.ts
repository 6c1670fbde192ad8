import type { GapReason } from "../protocol/index.ts";

/** What the live updates of one application have done since its start, for its metrics. */
export class LiveCounts {
  published = 0;
  /** Messages that the bus has refused, or not confirmed in time. */
  publishFailures = 0;
  delivered = 0;
  readonly gaps: Record<GapReason, number> = { trimmed: 0, reset: 0, expired: 0 };
}
