/**
 * The reading of a call's response. Used by the browser and the client.
 *
 * @see docs/protocol.md 3.3 and 5.2
 */
import { codeOf, type ErrorCode, isErrorCode, RPCError } from "../errors.ts";

/** An error as it is sent. */
export type ErrorBody = Pick<RPCError, "code" | "message" | "details">;

/**
 * Resolves with the result that a response carries.
 *
 * @throws RPCError the error that the response carries; or one with the code of its status, if the response is not the
 *   application's
 */
export async function readResult(name: string, response: Response): Promise<unknown> {
  const body = await response.json().catch((cause) => ({ cause }));
  if (body?.error) throw errorFromJson(body.error);
  if (response.ok && body?.result !== undefined) return body.result;
  const { status } = response;
  // The response of a proxy or a firewall: only its status is meaningful. 413 is treated like 422.
  throw callError(`${name}: unexpected response (${status})`, body?.cause, codeOf(status === 413 ? 422 : status));
}

/** Returns the error of an error body. An unknown code, of another version, becomes `internal`. */
export function errorFromJson({ code, message, details }: ErrorBody): RPCError {
  return new RPCError(isErrorCode(code) ? code : "internal", message, details);
}

/** Returns an error of the calling side, with its cause. */
export function callError(message: string, cause: unknown, code: ErrorCode = "internal"): RPCError {
  return Object.assign(new RPCError(code, message), { cause });
}
