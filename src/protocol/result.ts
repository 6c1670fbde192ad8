import { codeOf, type ErrorCode, isErrorCode, RPCError } from "../errors.ts";

/**
 * Gives the result that a response carries.
 *
 * @throws RPCError the function's own; or one by the status, when it was not the application that answered
 */
export async function resultOf(name: string, response: Response): Promise<unknown> {
  const body = await response.json().catch((cause) => ({ cause }));
  if (body?.error) throw received(body.error);
  if (response.ok && body?.result !== undefined) return body.result;
  const { status } = response;
  // A proxy or a firewall: what its status stands for is the best that is known. 413 is a kind of 422.
  const code = codeOf(status === 413 ? 422 : status);
  throw failure(`${name}: something else answered, with ${status}`, body?.cause, code);
}

/** Makes an error out of the JSON of one. A code that this side does not know yet is `internal`. */
export function received({ code, message, details }: RPCError): RPCError {
  return new RPCError(isErrorCode(code) ? code : "internal", message, details);
}

/** Makes an error of this side, with what it came from. */
export function failure(message: string, cause: unknown, code: ErrorCode = "internal"): RPCError {
  return Object.assign(new RPCError(code, message), { cause });
}
