/**
 * The arithmetic of the sliding window: every store computes the same from the same time.
 *
 * @see docs/protocol.md 9.2
 */

/** The number of buckets that a span is divided into. */
const BUCKETS_PER_SPAN = 60;

/**
 * The number of buckets that count: the running one, and those of a whole span before it. Together they contain every
 * call of the last span, whatever part of the running bucket has passed.
 */
export const COUNTED_BUCKETS = BUCKETS_PER_SPAN + 1;

/** Returns the number of the bucket that a time is in. Times and spans are whole milliseconds, so that it is exact. */
export function bucketAt(timeMs: number, spanMs: number): number {
  return Math.floor((timeMs * BUCKETS_PER_SPAN) / spanMs);
}

/** Returns the first whole millisecond of a bucket. */
export function bucketStartMs(bucket: number, spanMs: number): number {
  return Math.ceil((bucket * spanMs) / BUCKETS_PER_SPAN);
}

/**
 * Returns the bucket to count in, if the time of a bucket has come while the latest one that was counted in is known.
 * When the clock is set back, that is the latest one, until the clock has caught up: no call counts for less time than
 * the span. If the clock is set back further than the counted buckets, the latest one means nothing any more.
 *
 * @returns `null` if all earlier counts have to be dropped
 */
export function bucketAfter(latest: number, bucket: number): number | null {
  if (bucket >= latest) return bucket;
  return latest - bucket > COUNTED_BUCKETS ? null : latest;
}

/** What was counted under one key. */
export interface Counts {
  /** The limit that the key was last checked against. */
  calls: number;
  /** The sum of the counts. */
  total: number;
  /** The number of a bucket, then its count, for each bucket with calls, the oldest first. */
  readonly buckets: number[];
}

/** Removes the counts of buckets that no longer count when `bucket` is the running one. */
export function removeExpired(counts: Counts, bucket: number): void {
  const { buckets } = counts;
  let end = 0;
  for (; end < buckets.length && (buckets[end] ?? 0) <= bucket - COUNTED_BUCKETS; end += 2) {
    counts.total -= buckets[end + 1] ?? 0;
  }
  if (end > 0) buckets.splice(0, end);
}

/**
 * Adds a cost to the running bucket, which is not before the last bucket with calls. The sum stays a safe integer, of which
 * every cost can be subtracted exactly: what a cost would add to that has no effect, since the key is far above its limit.
 */
export function addCost(counts: Counts, bucket: number, cost: number): void {
  const { buckets, total } = counts;
  const last = buckets.length - 2;
  const added = Math.min(cost, Number.MAX_SAFE_INTEGER - total);
  counts.total = total + added;
  if (buckets[last] === bucket) buckets[last + 1] = (buckets[last + 1] ?? 0) + added;
  else buckets.push(bucket, added);
}

/**
 * Returns when the next call is accepted, after {@link removeExpired}: the number of the bucket at whose start enough of the
 * counted calls no longer count. 0 means now.
 */
export function nextBucket({ total, calls, buckets }: Counts): number {
  let remaining = total;
  let next = 0;
  for (let at = 0; remaining >= calls; at += 2) {
    remaining -= buckets[at + 1] ?? remaining;
    next = (buckets[at] ?? 0) + COUNTED_BUCKETS;
  }
  return next;
}

/** Returns the bucket at whose start nothing counts any more, after {@link removeExpired}; 0 if nothing does now. */
export function lastCountedBucket({ buckets }: Counts): number {
  const last = buckets.at(-2);
  return last === undefined ? 0 : last + COUNTED_BUCKETS;
}
