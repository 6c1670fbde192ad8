import type { RPCError } from "../errors.ts";
import { type RequestContext, RequestError } from "../http/index.ts";
import type { AppLog } from "../logging/index.ts";
import { closestName } from "../text/index.ts";

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

/**
 * Returns the error of a call of a function that does not exist, in development with the function that was probably meant:
 * in the message of `not_found`, and in the details of a request for the parameters. `tsweb/client` has only the types of
 * the functions, so it cannot know their names. A built server does not name its functions.
 *
 * @param name the name in the path of the call
 * @see docs/protocol.md 3.4
 */
export function withSimilarName(
  error: RPCError,
  name: string,
  { development, functions }: { readonly development?: true; readonly functions: ReadonlyMap<string, unknown> },
): RPCError {
  if (!development || !(error instanceof RequestError) || (error.status !== 404 && error.status !== 405)) return error;
  const similar = closestName(name, functions.keys());
  if (similar === undefined) return error;
  const { code, message, status, headers } = error;
  const question = status === 404 ? ` Did you mean ${similar}?` : "";
  return new RequestError(code, message + question, { status, headers, details: { similar } });
}
