/** The number of calls that a client may make in a span of time. */
export interface Rate {
  readonly calls: number;
  /** The span, in seconds: from 1 to 31,536,000. */
  readonly seconds: number;
}

/** The longest span: a year. */
const MAX_SECONDS = 365 * 24 * 60 * 60;

/** The number of buckets that a span is divided into. */
const BUCKETS_PER_SPAN = 12;

/**
 * The number of buckets that count: the running one, and those of a whole span before it. Together they contain every
 * call of the last span, whatever part of the running bucket has passed.
 */
export const COUNTED_BUCKETS = BUCKETS_PER_SPAN + 1;

/**
 * Returns the length of a bucket, in whole milliseconds: a twelfth of the span, rounded up. Bucket *n* starts at *n*
 * times this length. With whole numbers, every store computes the same bucket from the same time.
 */
export function bucketMs({ seconds }: Rate): number {
  return Math.ceil((seconds * 1000) / BUCKETS_PER_SPAN);
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

/** The accepted calls of one client. */
export interface CallCounts {
  /** The sum of the counts. */
  total: number;
  /** The number of a bucket, then its count, for each bucket with calls, the oldest first. */
  readonly buckets: number[];
}

/** Removes the counts of buckets that no longer count when `bucket` is the running one. */
export function removeExpired(counts: CallCounts, bucket: number): void {
  const { buckets } = counts;
  let end = 0;
  for (; end < buckets.length && (buckets[end] ?? 0) <= bucket - COUNTED_BUCKETS; end += 2) {
    counts.total -= buckets[end + 1] ?? 0;
  }
  if (end > 0) buckets.splice(0, end);
}

/** Counts a call in the running bucket, which is not before the last bucket with calls. */
export function countCall(counts: CallCounts, bucket: number): void {
  const { buckets } = counts;
  const last = buckets.length - 2;
  counts.total++;
  if (buckets[last] === bucket) buckets[last + 1] = (buckets[last + 1] ?? 0) + 1;
  else buckets.push(bucket, 1);
}

/**
 * Returns when a client may make its next call, after {@link removeExpired}: the number of the bucket at whose start
 * enough of its calls no longer count. 0 means that it may call now.
 *
 * @param calls the calls of the rate
 * @see docs/protocol.md 9.2
 */
export function nextBucket({ total, buckets }: CallCounts, calls: number): number {
  let remaining = total;
  let next = 0;
  for (let at = 0; remaining >= calls; at += 2) {
    remaining -= buckets[at + 1] ?? remaining;
    next = (buckets[at] ?? 0) + COUNTED_BUCKETS;
  }
  return next;
}

/**
 * Returns the `rate` option of `new App` after checking it.
 *
 * @throws RangeError if `calls` or `seconds` is not a number in its range
 */
export function validateRate(rate: Rate): Rate {
  const { calls, seconds } = rate;
  if (!Number.isSafeInteger(calls) || calls < 1)
    throw new RangeError(`Invalid option rate.calls in new App: ${calls}. Use a whole number from 1.`);
  // Longer spans would exceed what Redis accepts as an expiry, and what `Retry-After` can be.
  if (!(seconds >= 1 && seconds <= MAX_SECONDS))
    throw new RangeError(`Invalid option rate.seconds in new App: ${seconds}. Use a number from 1 to ${MAX_SECONDS}.`);
  return rate;
}
