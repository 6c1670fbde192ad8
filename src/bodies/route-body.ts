import { RPCError } from "../errors.ts";
import { hasDeclaredLength, keepInMemory, type RequestContext, RequestError } from "../http/index.ts";
import { bodyCounter, encodedBodyError, MAX_BODY_BYTES_PER_CLIENT } from "./read-body.ts";
import { uploadBody } from "./upload-body.ts";
import { type UploadStore, uploadStoreOf } from "./upload-store.ts";

/*
 * The body of a request that a route receives: within its limits, counted for its client, and with an error of its own if it cannot be
 * parsed. See docs/protocol.md 2.7 and 11.4.
 */

/** The request that a route receives. */
export interface LimitedRequest {
  readonly request: Request;
  /** Returns whether the whole body was read, or its size was checked before. */
  isBodyChecked(): boolean;
}

/**
 * Returns a request whose body fails once it exceeds the limits of docs/protocol.md 2.7, for routes that read the body
 * themselves.
 *
 * A request with a declared length is returned unchanged if its host enforces it: `checkDeclaredLength` has checked it. Any other
 * body is counted as the route reads it.
 *
 * @throws RequestError 429 if the client has too many bytes in flight
 */
export function withLimitedBody(context: RequestContext, maxBytes?: number): LimitedRequest {
  const { raw: request } = context;
  if (!request.body) return { request, isBodyChecked: () => true };
  context.isBodyInRoute = true;
  const isDeclared = hasDeclaredLength(request.headers);
  const declared = isDeclared ? Number(request.headers.get("content-length")) : 0;
  context.takeBodyBytes(declared);
  if (isDeclared && context.inbound.enforcesLength) return { request, isBodyChecked: () => true };
  const count = bodyCounter(context, { maxBytes, counted: declared });
  let isComplete = false;
  const limiter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      count(chunk.byteLength); // if it throws, the stream fails with that error
      controller.enqueue(chunk);
    },
    flush() {
      isComplete = true;
    },
  });
  // The source is not cancelled: the host would discard the rest without a limit.
  const limited = withBody(context, request.body.pipeThrough(limiter, { preventCancel: true }));
  return { request: limited, isBodyChecked: () => isDeclared || isComplete };
}

function withBody(context: RequestContext, body: ReadableStream<Uint8Array>): Request {
  const { url, method, headers, signal } = context.raw;
  // The Fetch standard requires `duplex` for a stream as a body. The type `RequestInit` does not have it.
  const init: RequestInit & { duplex: "half" } = { method, headers, signal, body, duplex: "half" };
  const request = new Request(url, init);
  context.onBodyReleased(keepInMemory(request));
  return request;
}

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
  const limited = withBody(context, body);
  onWholeBodyRead(limited, () => {
    counter.isInMemory = true;
  });
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

/** The methods that parse a body, with the name of the error that they reject with if they cannot. */
const PARSERS = { json: "SyntaxError", formData: "TypeError" } as const;

/** The content types of a form. */
const FORM_TYPE = /^\s*(?:multipart\/form-data|application\/x-www-form-urlencoded)\s*(?:;|$)/i;

/**
 * Makes a request note the errors with which `json()` and `formData()` reject because its client has sent a malformed body.
 *
 * @returns a function that returns the error for the client, with the status 400 or 415, if exactly such an error is passed, and
 *   `null` for any other. What the application parses itself, and a body that it reads twice, fail as any other mistake.
 * @see docs/protocol.md 11.4
 */
export function findUnreadableBody(request: Request): (error: unknown) => RequestError | null {
  const found = new WeakMap<Error, RequestError>();
  watch(request, found);
  return (error) => (error instanceof Error ? (found.get(error) ?? null) : null);
}

function watch(request: Request, found: WeakMap<Error, RequestError>): void {
  for (const method of ["json", "formData"] as const) {
    const parse = request[method];
    const value = async (): Promise<unknown> => {
      const isUsed = request.bodyUsed || request.body?.locked === true;
      try {
        return await Reflect.apply(parse, request, []);
      } catch (error) {
        if (!isUsed && error instanceof Error && !(error instanceof RPCError) && error.name === PARSERS[method]) {
          found.set(error, unreadableBodyError(method, request));
        }
        throw error;
      }
    };
    Object.defineProperty(request, method, { value, configurable: true, writable: true });
  }
  const { clone } = request;
  const value = (): Request => {
    const copy = Reflect.apply(clone, request, []);
    watch(copy, found);
    return copy;
  };
  Object.defineProperty(request, "clone", { value, configurable: true, writable: true });
}

function unreadableBodyError(method: keyof typeof PARSERS, { headers }: Request): RequestError {
  const encoded = encodedBodyError(headers.get("content-encoding"));
  if (encoded) return encoded;
  if (method === "json") return new RequestError("validation_error", "The request body is not JSON.", { status: 400 });
  if (FORM_TYPE.test(headers.get("content-type") ?? "")) {
    return new RequestError("validation_error", "The request body is not a form.", { status: 400 });
  }
  const message = "The content type of a form must be multipart/form-data or application/x-www-form-urlencoded.";
  return new RequestError("validation_error", message, { status: 415 });
}
