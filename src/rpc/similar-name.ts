import type { RPCError } from "../errors.ts";
import { RequestError } from "../http/index.ts";
import { closestName } from "../text/index.ts";

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
