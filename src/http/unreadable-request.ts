import type { OutboundResponse } from "./outbound-response.ts";
import { idHeaders, requestIds } from "./request-ids.ts";

const BODY = "Bad request: the URL cannot be read.\n";

/**
 * Returns the response to a request whose target or `Host` cannot be read: 400, with the ids of the request. The
 * connection is closed.
 *
 * @param header returns a header of the request; `null` if it is missing
 * @see docs/protocol.md 2.2
 */
export function unreadableRequestResponse(
  header: (name: string) => string | null,
): OutboundResponse & { readonly body: string } {
  return {
    status: 400,
    headers: [
      ...["content-type", "text/plain; charset=utf-8"],
      ...["content-length", String(BODY.length)],
      ...["x-content-type-options", "nosniff"],
      ...["connection", "close"],
      ...idHeaders(requestIds(header)).flat(),
    ],
    body: BODY,
  };
}
