import { ByteCounts, RequestError } from "../http/index.ts";
import { clientKey, STREAM_RETRY_SECONDS } from "../rate-limit/index.ts";
import type { SubscriptionRequest } from "./subscription-request.ts";

/**
 * What each feed, token and query uses besides its text while its request is open, in bytes, as measured on Node 20: a feed if nobody
 * else receives its channel, and a query also if others receive it.
 */
const ITEM_BYTES = 2 * 1024;

/** What a client may use on average for each connection that it may have open, in bytes. */
const BYTES_PER_CONNECTION = 320 * 1024;

/** What a client may use at least, in bytes: two requests of the maximum size. */
const LEAST_BYTES = 4 * 1024 * 1024;

/** What a request keeps while it is open. */
type KeptRequest = Pick<SubscriptionRequest, "readers" | "tokens" | "queries">;

/** Returns about how many bytes of memory a live request uses while it is open, besides what its connection does. */
export function memoryOf({ readers, tokens, queries }: KeptRequest): number {
  const texts = [...tokens, ...queries];
  return texts.reduce((bytes, text) => bytes + text.length, (readers.length + texts.length) * ITEM_BYTES);
}

/** Returns how many bytes of memory the live requests of one client may use together. */
export function maxMemory(maxConnections: number): number {
  return Math.max(LEAST_BYTES, maxConnections * BYTES_PER_CONNECTION);
}

/**
 * Counts the memory of the live requests of each client that are open. The number of its connections does not bound it: a request of
 * 100 KB with 256 queries uses six times as much, and 600 polls may wait at once.
 */
export class RequestMemory {
  readonly #counts = new ByteCounts();
  readonly #maxBytes: number;

  /** @param maxConnections how many connections a client may have open */
  constructor(maxConnections: number) {
    this.#maxBytes = maxMemory(maxConnections);
  }

  /**
   * Counts a request of a client.
   *
   * @returns a function to call once when it has ended
   * @throws RequestError `rate_limited` if its client would use too much
   */
  take(address: string, request: KeptRequest): () => void {
    const key = clientKey(address);
    const bytes = memoryOf(request);
    if (this.#counts.take(key, bytes, this.#maxBytes)) return () => this.#counts.release(key, bytes);
    const message = "Too many feeds, tokens and queries are open. Close some of the pages.";
    throw new RequestError("rate_limited", message, { details: { retry_after: STREAM_RETRY_SECONDS } });
  }
}
