import type { ServerResponse } from "node:http";

/** The error code of HTTP/2. @see RFC 9113, section 7 */
const INTERNAL_ERROR = 2;

/** A response of Node's server. Those of HTTP/2 have a stream, and no `destroyed`. */
interface NodeResponse extends ServerResponse {
  readonly stream?: { readonly destroyed: boolean; close(code: number): void };
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
