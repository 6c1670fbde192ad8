import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

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
 * Returns the response that is using a connection with HTTP/1; `null` if there is none. Node assigns a connection to one
 * response at a time, in the order of the requests.
 */
export function currentResponse(socket: Socket & { readonly _httpMessage?: unknown }): ServerResponse | null {
  // Node has no public name for it. Servers of other packages that lack the field order pipelined requests themselves.
  const { _httpMessage: current } = socket;
  return typeof current === "object" && current !== null ? (current as ServerResponse) : null;
}

/**
 * Releases the text of headers that were sent, about 2 KiB, for a response that stays open for minutes. Node keeps it, but
 * only reads whether there is one.
 */
export function releaseSentHeaders(
  response: ServerResponse & { _header?: unknown; readonly _headerSent?: unknown },
): void {
  // Node has no public name for it. In a version that lacks the fields, nothing is released.
  if (response._headerSent === true && typeof response._header === "string") response._header = SENT_HEADERS;
}

const SENT_HEADERS = "HTTP/1.1 200 OK\r\n\r\n";

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
