import { type ErrorCode, isErrorCode, RPCError } from "../errors.ts";

/** What a status means when it is not the application that answered: a proxy, a firewall. */
const CODES: Readonly<Record<number, ErrorCode>> = {
  401: "unauthenticated",
  403: "forbidden",
  404: "not_found",
  413: "validation_error",
  429: "rate_limited",
  504: "timeout",
};

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
  throw failure(`${name}: answered ${status}, but not by the application`, body?.cause, CODES[status]);
}

/** Makes an error out of the JSON of one. A code that this side does not know yet is `internal`. */
export function received({ code, message, details }: RPCError): RPCError {
  return new RPCError(isErrorCode(code) ? code : "internal", message, details);
}

/** Makes an error of this side, with what it came from. */
export function failure(message: string, cause: unknown, code: ErrorCode = "internal"): RPCError {
  return Object.assign(new RPCError(code, message), { cause });
}
