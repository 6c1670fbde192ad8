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
  // A proxy or a firewall: what its status stands for is the best that is known. 413 is of no code alone.
  const code = status === 413 ? "validation_error" : codeOf(status);
  throw failure(`${name}: answered ${status}, but not by the application`, body?.cause, code);
}

/** Makes an error out of the JSON of one. A code that this side does not know yet is `internal`. */
export function received({ code, message, details }: RPCError): RPCError {
  return new RPCError(isErrorCode(code) ? code : "internal", message, details);
}

/** Makes an error of this side, with what it came from. */
export function failure(message: string, cause: unknown, code: ErrorCode = "internal"): RPCError {
  return Object.assign(new RPCError(code, message), { cause });
}
