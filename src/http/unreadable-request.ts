import { JSON_TYPE } from "../protocol/index.ts";
import { errorBody } from "./handler-response.ts";
import type { OutboundResponse } from "./outbound-response.ts";
import { idHeaders, requestIds } from "./request-ids.ts";
import { isCallPath } from "./request-path.ts";

const MESSAGE = "Bad request: the URL cannot be read.";

/**
 * Returns the response to a request whose target or `Host` cannot be read: 400, with the ids of the request, and for the path of a
 * call with its error body. The connection is closed.
 *
 * @param path the path of the request as it was sent, with the query or without it
 * @param header returns a header of the request; `null` if it is missing
 * @see docs/protocol.md 2.2
 */
export function unreadableRequestResponse(
  path: string,
  header: (name: string) => string | null,
): OutboundResponse & { readonly body: string } {
  // The base is not known to every host.
  const isCall = isCallPath(path.split("?")[0] ?? "", null);
  const body = isCall ? errorBody("validation_error", MESSAGE) : `${MESSAGE}\n`;
  return {
    status: 400,
    headers: [
      ...["content-type", isCall ? JSON_TYPE : "text/plain; charset=utf-8"],
      ...["content-length", String(body.length)],
      ...["x-content-type-options", "nosniff"],
      ...["connection", "close"],
      ...idHeaders(requestIds(header)).flat(),
    ],
    body,
  };
}
