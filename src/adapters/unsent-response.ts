import type { ServerResponse } from "node:http";
import type { OutboundResponse } from "../http/index.ts";
import type { AppInternals } from "../server/index.ts";
import { NodeInboundRequest } from "./node-inbound-request.ts";
import { abortResponse } from "./response-state.ts";

/** The maximum length of the reason where there is no log, in UTF-16 code units. */
const MAX_REASON_LENGTH = 200;

/** What is known about a response that could not be sent. */
export interface UnsentResponse {
  readonly error: unknown;
  /** The response of the application, if there was one. Its request id is logged. */
  readonly result?: OutboundResponse | Response | undefined;
  /** The application. Other hosts have no log: one short line is written to standard error. */
  readonly internals: Pick<AppInternals, "logUnsent"> | undefined;
}

/**
 * Logs why a response could not be sent, and ends it so that its client does not take it for complete.
 *
 * A client can cause this with each request, so it is written to the log, whose buffer is limited.
 */
export function reportUnsent({ error, result, internals }: UnsentResponse, response: ServerResponse): void {
  if (internals) internals.logUnsent(new NodeInboundRequest(response.req, response), result, error);
  else console.error(`A response could not be sent: ${shortReason(error)}`);
  try {
    if (response.headersSent) abortResponse(response);
    else writeServerError(response);
  } catch {
    abortResponse(response); // a header that the host has set, such as `Trailer`, prevents this response too
  }
}

function shortReason(error: unknown): string {
  const reason = error instanceof Error ? error.message : `a value of type ${typeof error} was thrown`;
  return reason.slice(0, MAX_REASON_LENGTH).replace(/\s+/g, " ");
}

function writeServerError(response: ServerResponse): void {
  if (response.req.httpVersionMajor === 1) {
    // Without the reason phrase, Node would use that of the response that failed: `500 OK`.
    response.writeHead(500, "Internal Server Error", { connection: "close" }).end();
    return;
  }
  for (const name of response.getHeaderNames()) response.removeHeader(name); // HTTP/2 keeps those that failed
  response.writeHead(500).end();
}
