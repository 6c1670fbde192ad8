import type { ServerResponse } from "node:http";

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
