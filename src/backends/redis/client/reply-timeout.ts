/** How long a reply may take before the connection counts as dead. */
const TIMEOUT_MS = 3_000;

/** How long the first reply of a connection may take: the system accepts connections to a server that is frozen. */
const FIRST_TIMEOUT_MS = 1_500;

/** How often the connection is checked. */
const CHECK_INTERVAL_MS = 250;

/** What is used of a client of ioredis. */
export interface RepliedClient {
  /** The current connection; `undefined` before the first one. */
  readonly stream: { readonly bytesRead: number; destroy(error: Error): unknown } | undefined;
  /** The commands without a reply. */
  readonly commandQueue: { readonly length: number };
}

/**
 * Closes each connection of a client over which nothing is received for 3 to 3.25 seconds while replies are missing, and
 * one over which nothing was received yet after 1.5 to 1.75 seconds. Neither a network that drops packets nor a server that
 * is frozen closes a connection. The client then connects again: to the next primary, within the 10 seconds of `publish`.
 *
 * The option `socketTimeout` of ioredis is not used: its timer outlives the connection that it was started for, and
 * closes the next one. Intervals are counted instead of time, so that a process that was itself blocked, and has not
 * read the replies yet, closes nothing.
 *
 * @returns a function that stops the checks
 */
export function closeWhenSilent(redis: RepliedClient): () => void {
  let stream: RepliedClient["stream"];
  let bytesRead = 0;
  let wasWaiting = false;
  let silentIntervals = 0;
  const check = () => {
    const isUnchanged = redis.stream === stream && stream?.bytesRead === bytesRead;
    // A reply must have been missing for the whole interval.
    silentIntervals = wasWaiting && isUnchanged ? silentIntervals + 1 : 0;
    wasWaiting = redis.commandQueue.length > 0;
    stream = redis.stream;
    bytesRead = stream?.bytesRead ?? 0;
    const timeoutMs = bytesRead === 0 ? FIRST_TIMEOUT_MS : TIMEOUT_MS;
    if (silentIntervals < timeoutMs / CHECK_INTERVAL_MS) return;
    silentIntervals = 0;
    stream?.destroy(new Error(`Redis has sent no reply for ${timeoutMs / 1000} seconds.`));
  };
  const timer = setInterval(check, CHECK_INTERVAL_MS).unref();
  return () => clearInterval(timer);
}
