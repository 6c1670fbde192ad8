import type { IncomingMessage, ServerResponse } from "node:http";

/** The error code of HTTP/2. @see RFC 9113, section 7 */
const INTERNAL_ERROR = 2;

/** A response of Node's server. Those of HTTP/2 have a stream, and no `destroyed`. */
interface NodeResponse extends ServerResponse {
  readonly stream?: {
    readonly destroyed: boolean;
    readonly session?: { close(): void } | undefined;
    close(code: number): void;
  };
}

/**
 * Makes a connection end after a response: by `Connection: close` with HTTP/1, unless the headers were sent already, and by
 * GOAWAY with HTTP/2.
 */
export function closeAfterResponse(response: NodeResponse): void {
  if (response.stream) response.stream.session?.close();
  else response.shouldKeepAlive = false;
}

/** Returns whether a response can no longer be written, because it has ended or its client has disconnected. */
export function isClosed({ destroyed, stream }: NodeResponse): boolean {
  return destroyed || stream?.destroyed === true;
}

/** Aborts a response, so that its client does not take it for complete. */
export function abortResponse(response: NodeResponse): void {
  // `destroy()` of an HTTP/2 response ends its stream without an error.
  if (response.stream) response.stream.close(INTERNAL_ERROR);
  else response.destroy();
}

// Lingering close: a response that closes its connection while the request's body is still being sent. The response
// is written at once, and the connection is closed only after the rest of the body has been read.
//
// A connection that is closed with unread bytes is reset, and the client loses the response: it would see a broken
// connection instead of a 413.
// See RFC 9112, section 9.6.

/** How many bytes of the rest of a body are read at most. */
const MAX_BYTES = 16 * 1024 * 1024;

/** How long the client may take to send the rest. */
const MAX_MS = 5_000;

/**
 * Returns whether a response has `Connection: close`.
 *
 * @param headers names, in lower case, and values, alternating as in Node's `rawHeaders`
 */
export function closesConnection(headers: readonly string[]): boolean {
  for (let at = 0; at < headers.length; at += 2) {
    if (headers[at] === "connection" && headers[at + 1] === "close") return true;
  }
  return false;
}

/** Ends a response after the rest of the request's body was read and discarded, or its limit was reached. */
export async function endAfterBody(response: ServerResponse): Promise<void> {
  await discardBody(response.req);
  response.end();
}

function discardBody(request: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let bytes = 0;
    const count = (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MAX_BYTES) end();
    };
    // A route that has not read the whole body pauses it.
    const resume = () => process.nextTick(() => request.resume());
    const end = () => {
      clearTimeout(deadline);
      request.off("data", count).off("pause", resume).off("end", end).off("close", end).off("error", end);
      resolve();
    };
    const deadline = setTimeout(end, MAX_MS);
    request.on("data", count).on("pause", resume).on("end", end).on("close", end).on("error", end);
    if (request.complete || request.readableEnded || request.destroyed) end();
    else request.resume();
  });
}
