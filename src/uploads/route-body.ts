import { keepInMemory, type LimitedRequest, MAX_BODY_BYTES_PER_CLIENT, type RequestContext } from "../http/index.ts";
import { uploadBody } from "./upload-body.ts";
import { type UploadStore, uploadStoreOf } from "./upload-store.ts";

/**
 * Returns a request whose body has the limits of an upload, for a route with a `max_body` above the default. Its bytes
 * count as those of an upload until the response has ended. With `arrayBuffer()`, `json()` and the like, they also count
 * as bytes in memory. The rest of a body that was not read by then fails: nothing would release its bytes.
 *
 * The body fails with the error that the client receives: 413 above `maxBytes`, 408 if it arrives too slowly, 503 if the
 * client or the process has too many uploads, 429 if the client has too many bytes in memory.
 *
 * @throws RequestError 503 by the declared length
 * @see docs/protocol.md 2.7
 */
export function withUploadLimits(context: RequestContext, maxBytes: number): LimitedRequest {
  const { raw: request } = context;
  if (!request.body) return { request, isBodyChecked: () => true };
  const counter = new RouteBodyCounter(context, maxBytes);
  context.isBodyInRoute = true;
  const chunks = uploadBody(context, maxBytes);
  let isComplete = false;
  let isReleased = false;
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        context.onBodyReleased(() => {
          isReleased = true;
          counter.release();
          if (isComplete) return;
          controller.error(new Error("The response was sent before the request's body was read."));
          chunks.return(undefined).catch(() => undefined);
        });
      },
      async pull(controller) {
        const { done, value } = await chunks.next();
        if (isReleased) return;
        if (done) {
          isComplete = true;
          controller.close();
          return;
        }
        counter.take(value.byteLength);
        controller.enqueue(value);
      },
      async cancel() {
        await chunks.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
  const { url, method, headers, signal } = request;
  // The Fetch standard requires `duplex` for a stream as a body. The type `RequestInit` does not have it.
  const init: RequestInit & { duplex: "half" } = { method, headers, signal, body, duplex: "half" };
  const limited = new Request(url, init);
  onWholeBodyRead(limited, () => {
    counter.isInMemory = true;
  });
  context.onBodyReleased(keepInMemory(limited));
  return { request: limited, isBodyChecked: () => isComplete };
}

/**
 * The methods of a request that hold its whole body in memory. `clone` is one of them: what one copy has read is kept until the
 * other copy has read it. Not every runtime has all methods.
 */
const METHODS = ["arrayBuffer", "blob", "bytes", "clone", "formData", "json", "text"];

/**
 * Calls a function before each call of a method that holds the whole body of a request in memory. Reading `request.body`
 * as a stream does not call it.
 */
export function onWholeBodyRead(request: Request, listener: () => void): void {
  for (const name of METHODS) {
    const method: unknown = Reflect.get(request, name);
    if (typeof method !== "function") continue;
    const value = (...args: unknown[]): unknown => {
      listener();
      return Reflect.apply(method, request, args);
    };
    Object.defineProperty(request, name, { value, configurable: true, writable: true });
  }
}

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
class RouteBodyCounter {
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
