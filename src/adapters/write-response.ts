import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import {
  type BodySink,
  isPushedBody,
  isResponse,
  type OutboundResponse,
  type PushedBody,
  releaseUnsentBody,
} from "../http/index.ts";
import {
  chunkOf,
  connectionForChunks,
  encodeText,
  endWithText,
  releaseSentHeaders,
  writeHeadWithLength,
} from "./fast/index.ts";
import {
  abortResponse,
  closesConnection,
  destroyIfDisconnected,
  destroyIfStalled,
  endAfterBody,
  hidesProgressOfWrite,
  isClosed,
} from "./response-end.ts";

/**
 * Writes a response of an application to Node's response.
 *
 * @returns nothing when all was written at once; otherwise a promise that rejects when the response could not be sent
 */
export function writeResponse(result: OutboundResponse | Response, response: ServerResponse): void | Promise<void> {
  if (isResponse(result)) return writeFetchResponse(result, response);
  const outbound = withEarlierCookies(result, response);
  const { headers, body } = outbound;
  if (typeof body === "string" || body === null || body instanceof Uint8Array) {
    if (response.req.complete || !closesConnection(headers)) return writeBuffered(outbound, body, response);
    return writeLingering(outbound, typeof body === "object" && body ? body : Buffer.from(body ?? ""), response);
  }
  writeHead(outbound, response);
  if (isPushedBody(body)) {
    // A response of declared length, such as a file, has no heartbeat that would detect a stalled client.
    if (headers.includes("content-length")) destroyIfDisconnected(response);
    return writePushedBody(body, response);
  }
  destroyIfDisconnected(response);
  return writeStream(body, response);
}

function writeBuffered(
  outbound: OutboundResponse,
  body: string | Uint8Array | null,
  response: ServerResponse,
): void | Promise<void> {
  const { status, headers } = outbound;
  const isBodiless = response.req.method === "HEAD" || status === 304 || status === 204; // RFC 9110, section 8.6
  const encoded = typeof body === "string" && !isBodiless ? encodeText(body) : null;
  const length = encoded?.bytes ?? body?.length ?? 0;
  if (isBodiless) response.writeHead(status, headers);
  else writeHeadWithLength(outbound, response, length);
  if (length > PART_BYTES && !isBodiless && hidesProgressOfWrite(response)) {
    destroyIfStalled(response);
    const bytes = typeof body === "object" && body ? body : Buffer.from(encoded?.text ?? "", encoded?.encoding);
    return endInParts(bytes, response);
  }
  if (isBodiless || !body) response.end();
  else if (encoded) endWithText(encoded, response);
  else response.end(body);
  if (response.writableLength > 0) destroyIfStalled(response); // most responses are in the system's buffers by now
}

/** The size of the parts in which a long body is written where {@link hidesProgressOfWrite} is true, in bytes. */
const PART_BYTES = 64 * 1024;

async function endInParts(bytes: Uint8Array, response: ServerResponse): Promise<void> {
  await writeInParts(bytes, response);
  if (!isClosed(response)) response.end();
}

/** Writes bytes with backpressure in parts, until the client disconnects. */
async function writeInParts(bytes: Uint8Array, response: ServerResponse): Promise<void> {
  for (let at = 0; at < bytes.length && !isClosed(response); at += PART_BYTES) {
    if (!response.write(bytes.subarray(at, at + PART_BYTES))) await drained(response);
  }
}

async function writeFetchResponse(result: Response, response: ServerResponse): Promise<void> {
  const { status, statusText, body } = result;
  const outbound = withEarlierCookies({ status, headers: [...result.headers].flat(), body }, response);
  destroyIfDisconnected(response);
  const isLingering = !response.req.complete && closesConnection(outbound.headers);
  // Bytes beyond the length that a route declares would be read as the next response on the connection.
  response.strictContentLength = true;
  writeHead(outbound, response, reasonPhrase(statusText, response));
  if (body) await writeStream(body, response, isLingering);
  else if (isLingering) await endAfterBody(response);
  else response.end();
}

/** Writes the status and the headers. If that throws, the body is released: a file or a connection may be behind it. */
function writeHead({ status, headers, body }: OutboundResponse, response: ServerResponse, reason = ""): void {
  try {
    if (reason) response.writeHead(status, reason, [...headers]);
    else response.writeHead(status, [...headers]);
  } catch (error) {
    releaseUnsentBody({ body });
    throw error;
  }
}

/** Returns a status text as a status line can hold it; HTTP/2 has none. @see RFC 9112, section 4 */
function reasonPhrase(statusText: string, { req }: ServerResponse): string {
  return req.httpVersionMajor > 1 ? "" : statusText.replace(/[^\t\x20-\x7e\x80-\xff]/g, "");
}

async function writeLingering(
  { status, headers }: OutboundResponse,
  bytes: Uint8Array,
  response: ServerResponse,
): Promise<void> {
  const withoutLength = headers.flatMap((name, at) =>
    at % 2 === 0 && name !== "content-length" ? [name, headers[at + 1] ?? ""] : [],
  );
  response.writeHead(status, [...withoutLength, "content-length", String(bytes.length)]);
  if (bytes.length > 0) response.write(bytes);
  else response.flushHeaders();
  if (response.writableLength > 0) destroyIfStalled(response);
  await endAfterBody(response);
}

/**
 * Writes a stream with backpressure, and cancels it when the client disconnects.
 *
 * @param isLingering whether the response ends after the rest of the request's body
 */
async function writeStream(
  body: ReadableStream<Uint8Array>,
  response: ServerResponse,
  isLingering = false,
): Promise<void> {
  const reader = body.getReader();
  const cancel = () => void reader.cancel().catch(() => undefined); // the client has disconnected
  if (isClosed(response)) return cancel();
  if (response.req.method === "HEAD") {
    cancel();
    response.end();
    return;
  }
  response.once("close", cancel);
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      if (isClosed(response)) return;
      if (next.value.length > PART_BYTES && hidesProgressOfWrite(response)) await writeInParts(next.value, response);
      else if (!response.write(next.value)) await drained(response);
    }
    if (isClosed(response)) return;
    if (isLingering) await endAfterBody(response);
    else response.end();
  } catch (error) {
    if (isClosed(response)) return; // the body may fail because it was cancelled
    cancel();
    throw error;
  } finally {
    response.off("close", cancel);
  }
}

/** Waits until more can be written to a response, or it has closed. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off("drain", done).off("close", done);
      resolve();
    };
    response.on("drain", done).on("close", done);
  });
}

/**
 * Adds the cookies of a response to those that Express, for example, has set before, and returns the response without
 * them. On a response that has headers already, some versions of Node keep only the last of a repeated name.
 */
function withEarlierCookies(outbound: OutboundResponse, response: ServerResponse): OutboundResponse {
  if (response.getHeaderNames().length === 0) return outbound;
  const headers: string[] = [];
  for (let i = 0; i < outbound.headers.length; i += 2) {
    const [name = "", value = ""] = outbound.headers.slice(i, i + 2);
    if (name === "set-cookie") response.appendHeader(name, value);
    else headers.push(name, value);
  }
  return { status: outbound.status, headers, body: outbound.body };
}

/** Writes a pushed body to a response whose headers have been written. No web stream is needed in between. */
function writePushedBody(body: PushedBody, response: ServerResponse): void {
  const producer = body.open(new ResponseSink(response));
  // Since Node 26, the first write is sent on the next tick.
  process.nextTick(releaseSentHeaders, response);
  response.on("drain", () => producer.onDrain()).on("close", () => producer.onClose());
  if (isClosed(response)) producer.onClose();
}

class ResponseSink implements BodySink {
  readonly #response: ServerResponse;
  /** Whether the headers are on their way: Node sends them with the first write. */
  #hasWritten = false;
  #waitsForDrain = false;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  write(chunk: string | Uint8Array): boolean {
    this.#hasWritten = true;
    return this.#response.write(chunk);
  }

  /**
   * Writes a chunk that was encoded once for all responses to the connection itself. `response.write` would encode it again,
   * in four writes: half of the CPU time of a message that has many receivers.
   */
  writeShared(bytes: Uint8Array): boolean {
    const socket = this.#hasWritten ? connectionForChunks(this.#response) : null;
    if (!socket) return this.write(bytes);
    if (socket.write(chunkOf(bytes))) return true;
    this.#emitDrain(socket);
    return false;
  }

  /** Emits `drain` of the response once, as Node does only after its own write. */
  #emitDrain(socket: Socket): void {
    if (this.#waitsForDrain) return;
    this.#waitsForDrain = true;
    socket.once("drain", () => {
      this.#waitsForDrain = false;
      this.#response.emit("drain");
    });
  }

  end(): void {
    this.#response.end();
  }

  destroy(): void {
    abortResponse(this.#response);
  }
}
