import type { IncomingMessage, ServerResponse } from "node:http";
import { appendPart, BodyUsedError } from "../bodies/index.ts";
import type { ByteCounter } from "../http/index.ts";

/** The fields that Express, body parsers and function platforms add to a request of Node's server. */
interface ParsedRequest extends IncomingMessage {
  /** The body as a body parser has parsed it. */
  readonly body?: unknown;
  /** The bytes of the body, where a function platform or a parser kept them. */
  readonly rawBody?: unknown;
}

/**
 * Returns the body of a request for a Fetch `Request`, `null` for a request without one.
 *
 * Reading starts with the first read of the returned stream. A body that a parser has consumed is restored: JSON is serialised
 * again, text and bytes are unchanged. A body that cannot be restored, such as a parsed form, fails when it is read.
 *
 * @param response the response to the request: a body that was not read to its end by then is discarded
 */
export function bodyOf(
  request: ParsedRequest,
  response: ServerResponse,
): Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null {
  if (request.method === "GET" || request.method === "HEAD") return null;
  if (Buffer.isBuffer(request.rawBody)) return new Uint8Array(request.rawBody);
  if (!hasBody(request)) return null;
  if (!request.readableEnded) return streamOf(request, response);
  const bytes = parsedBytes(request);
  return bytes ? new Uint8Array(bytes) : failingStream(consumedBody());
}

/** Returns whether a request has a body that was not read before, neither by the host nor by a body parser. */
export function hasUnreadBody(request: ParsedRequest): boolean {
  return hasBody(request) && !request.readableEnded && !request.destroyed && !Buffer.isBuffer(request.rawBody);
}

/** Returns whether a body parser has read the body. It has also decoded a body with a `Content-Encoding`. */
export function isParsed(request: ParsedRequest): boolean {
  return Buffer.isBuffer(request.rawBody) || (request.readableEnded && request.body !== undefined);
}

/** Returns whether a request may have an unread body of unknown length. */
export function hasUndeclaredBody(
  request: ParsedRequest & { readonly stream?: { readonly endAfterHeaders?: boolean } },
) {
  const { headers, httpVersionMajor, stream } = request;
  // The parser enforces a declared length.
  if (headers["content-length"] !== undefined) return false;
  const isPossible =
    httpVersionMajor > 1 ? stream?.endAfterHeaders !== true : headers["transfer-encoding"] !== undefined;
  return isPossible && hasUnreadBody(request);
}

/**
 * Reads the body of a request as UTF-8 text, without web streams: several times as fast for small bodies.
 *
 * @param count receives the size of each part. If it throws, reading stops with that error.
 * @throws Error if the connection closes before the whole body was received
 */
export function readIncomingText(request: IncomingMessage, count: ByteCounter): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const finish = (settle: () => void) => {
      request.off("data", onData).off("end", onEnd).off("error", onBroken).off("close", onBroken);
      settle();
    };
    const onData = (chunk: Buffer) => {
      appendPart(chunks, chunk);
      try {
        count(chunk.length);
      } catch (error) {
        finish(() => reject(error));
      }
    };
    const onEnd = () => finish(() => resolve(decoder.decode(Buffer.concat(chunks))));
    const onBroken = (error?: Error) => finish(() => reject(error ?? brokenBody()));
    request.on("data", onData).on("end", onEnd).on("error", onBroken).on("close", onBroken);
  });
}

/** Like `Request.text()`, it removes a byte order mark. */
const decoder = new TextDecoder();

function brokenBody(): Error {
  return new Error("The connection closed before the whole body was received.");
}

/** Returns whether a request has a body, by its headers. @see RFC 9112, section 6.3 */
function hasBody({ headers, httpVersionMajor }: IncomingMessage): boolean {
  if (httpVersionMajor > 1) return true; // HTTP/2 may send a body that neither header announces
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

function parsedBytes({ body, headers }: ParsedRequest): Buffer | null {
  if (body === undefined) return null;
  const isJson = /^application\/([\w.+-]+\+)?json\s*(;|$)/i.test(headers["content-type"] ?? "");
  if (isJson && !Buffer.isBuffer(body)) return Buffer.from(JSON.stringify(body));
  if (typeof body === "string") return Buffer.from(body);
  return body instanceof Uint8Array ? Buffer.from(body) : null;
}

/**
 * Streams a body with backpressure. Cancelling the stream discards the rest of the body and leaves the connection
 * open, so that the response can still be sent. So does a response that is sent before the body was read to its end:
 * otherwise the next request on the connection would wait behind the rest of the body.
 */
function streamOf(request: IncomingMessage, response: ServerResponse): ReadableStream<Uint8Array> {
  let stop = () => {};
  const start = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    let isOpen = true; // A runtime may call a listener once more after `off`, in the same burst of events.
    const onData = (chunk: Buffer) => {
      if (!isOpen) return;
      controller.enqueue(new Uint8Array(chunk)); // a copy: Node may reuse the memory
      if ((controller.desiredSize ?? 0) <= 0) request.pause();
    };
    const end = (endStream: () => void) => {
      if (!isOpen) return;
      stop();
      endStream();
    };
    const onEnd = () => end(() => controller.close());
    const onBroken = (error?: Error) => end(() => controller.error(error ?? brokenBody()));
    const onSent = () => {
      onBroken(new Error("The response was sent before the request's body was read."));
      request.resume();
    };
    stop = () => {
      isOpen = false;
      request.off("data", onData).off("end", onEnd).off("error", onBroken).off("close", onBroken);
      response.off("finish", onSent);
    };
    request.on("data", onData).on("end", onEnd).on("error", onBroken).on("close", onBroken);
    response.on("finish", onSent);
    // A body that was discarded with its response, or taken, emits neither `end` nor `close`.
    if (response.writableFinished) onSent();
    else if (request.destroyed || request.readableEnded) onBroken();
  };
  let isStarted = false;
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (!isStarted) start(controller);
        isStarted = true;
        request.resume();
      },
      cancel() {
        stop();
        request.resume();
      },
    },
    { highWaterMark: 0 }, // no chunk is requested before the first read
  );
}

function failingStream(error: Error): ReadableStream<Uint8Array> {
  return new ReadableStream({
    pull() {
      throw error;
    },
  });
}

function consumedBody(): BodyUsedError {
  return new BodyUsedError(
    "The request's body was read before the application received it. Mount the application before body parsers, or " +
      "pass the parsed body on: Object.assign(request.raw, { body: request.body }).",
  );
}
