import type { ServerResponse } from "node:http";
import { isResponse, type OutboundResponse } from "../http/index.ts";
import type { Logger } from "../logging/index.ts";
import { REQUEST_ID_HEADER } from "../protocol/index.ts";
import { abortResponse } from "./response-state.ts";

const MESSAGE = "A response could not be sent";

/** The maximum length of the reason where there is no log, in UTF-16 code units. */
const MAX_REASON_LENGTH = 200;

/** What is known about a response that could not be sent. */
export interface UnsentResponse {
  readonly error: unknown;
  /** The response of the application, if there was one. Its request id is logged. */
  readonly result?: OutboundResponse | Response | undefined;
  /** The log of the application. Other hosts have none: one short line is written to standard error. */
  readonly log: Logger | undefined;
}

/**
 * Logs why a response could not be sent, and ends it so that its client does not take it for complete.
 *
 * A client can cause this with each request, so it is written to the log, whose buffer is limited.
 */
export function reportUnsent({ error, result, log }: UnsentResponse, response: ServerResponse): void {
  if (log) log.error({ ...requestIdOf(result), err: error }, MESSAGE);
  else console.error(`${MESSAGE}: ${shortReason(error)}`);
  try {
    if (response.headersSent) abortResponse(response);
    else writeServerError(response);
  } catch {
    abortResponse(response); // a header that the host has set, such as `Trailer`, prevents this response too
  }
}

/** Returns the field `id` of log lines. The context of the request, which has the id, has ended. */
function requestIdOf(result: OutboundResponse | Response | undefined): { readonly id?: string } {
  if (!result) return {};
  const id = isResponse(result)
    ? result.headers.get(REQUEST_ID_HEADER)
    : result.headers.find((_, at, all) => at % 2 === 1 && all[at - 1] === REQUEST_ID_HEADER);
  return id ? { id } : {};
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
