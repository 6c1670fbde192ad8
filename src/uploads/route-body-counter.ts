import { MAX_BODY_BYTES_PER_CLIENT, type RequestContext } from "../http/index.ts";
import { type UploadStore, uploadStoreOf } from "./upload-store.ts";

/** How many bodies of the maximum size one client may have in memory, if these are more than 16 MiB. */
const MAX_BODIES_IN_MEMORY = 4;

/**
 * Returns how many bytes of bodies one client may have in memory for a route.
 *
 * @param maxBody the maximum of one body of the route, in bytes
 * @see docs/protocol.md 2.7
 */
function maxBytesInMemory(maxBody: number): number {
  return Math.max(MAX_BODY_BYTES_PER_CLIENT, MAX_BODIES_IN_MEMORY * maxBody);
}

/** Counts the bytes of a route's body: all of them as an upload, and as bytes in memory if the route reads it as a whole. */
export class RouteBodyCounter {
  /** Whether the route reads the body as a whole, so that all of it is in memory. */
  isInMemory = false;
  readonly #context: RequestContext;
  readonly #store: UploadStore;
  readonly #declaredBytes: number;
  readonly #maxBytesInMemory: number;
  #bytes = 0;
  #bytesInMemory = 0;

  /**
   * @param maxBody the maximum of the body, in bytes
   * @throws RequestError 503 by the declared length
   */
  constructor(context: RequestContext, maxBody: number) {
    this.#context = context;
    this.#store = uploadStoreOf(context);
    this.#declaredBytes = Number(context.inbound.header("content-length") ?? 0) || 0;
    this.#maxBytesInMemory = maxBytesInMemory(maxBody);
    this.#store.checkRoom(context, this.#declaredBytes);
  }

  /**
   * Counts the next bytes of the body. In memory, a declared length counts as a whole from the first call on.
   *
   * @throws RequestError 503 if there are too many bytes of uploads; 429 if the client has too many in memory
   */
  take(bytes: number): void {
    this.#store.take(this.#context, bytes);
    this.#bytes += bytes;
    if (!this.isInMemory) return;
    const missing = Math.max(this.#declaredBytes, this.#bytes) - this.#bytesInMemory;
    this.#store.takeMemory(this.#context, missing, this.#maxBytesInMemory);
    this.#bytesInMemory += missing;
  }

  /** Releases all bytes that were counted. */
  release(): void {
    this.#store.release(this.#context, this.#bytes);
    this.#store.releaseMemory(this.#context, this.#bytesInMemory);
    this.#bytes = 0;
    this.#bytesInMemory = 0;
  }
}
