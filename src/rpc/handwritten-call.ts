import { type RequestContext, RequestError } from "../http/index.ts";
import type { AppLog } from "../logging/index.ts";

/** The statuses of requests that no stub sends: an unknown function, a method other than POST, and a body that is no JSON. */
const STATUSES: ReadonlySet<number> = new Set([404, 405, 415]);

/**
 * Logs that a call was refused which was probably written with `fetch`, because a stub sends none like it. For development:
 * the code of the page may ignore the response.
 *
 * `tsweb/client` requests the parameters of a function by GET, also from scripts without a page. Only pages of the same
 * site get a line for it.
 */
export function logHandwrittenCall(error: unknown, { inbound, id }: RequestContext, log: AppLog): void {
  if (!(error instanceof RequestError) || !STATUSES.has(error.status)) return;
  const isOfPage = inbound.header("sec-fetch-site") === "same-origin";
  if (error.status === 405 && !isOfPage) return;
  const advice = "To call a server function, import it and call it like any function: tsweb sends the request.";
  log.warn(
    { id },
    `${inbound.method} ${inbound.pathname} was refused with ${error.status}. ${error.message} ${advice}`,
  );
}
