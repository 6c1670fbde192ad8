import { type ErrorCode, isErrorCode, RPCError } from "../errors.ts";
import { pageData } from "./page-data.ts";

/** Arguments by the names of their parameters. */
export type Arguments = Readonly<Record<string, unknown>>;

const HEADER = "x-csrf-token";

/** What a status means when it is not the application that answered: a proxy, a firewall. */
const CODES: Readonly<Record<number, ErrorCode>> = {
  401: "unauthenticated",
  403: "forbidden",
  404: "not_found",
  413: "validation_error",
  429: "rate_limited",
  504: "timeout",
};

let token = document.querySelector<HTMLMetaElement>('meta[name="csrf-token"]')?.content;

/**
 * Sends a call and gives the response, whatever its status.
 *
 * The CSRF token of the page goes with the call. A refusal that brings a fresh one is tried once
 * more with it: another tab signed in since.
 *
 * @throws RPCError `internal` when the server cannot be reached
 */
export async function post(name: string, args: Arguments, signal: AbortSignal | null = null): Promise<Response> {
  const body = JSON.stringify({ args });
  for (let last = false; ; last = true) {
    const headers: Record<string, string> = { "content-type": "application/json" };
    if (token) headers[HEADER] = token;
    const response = await fetch(`${pageData.base}/__web/rpc/${name}`, { method: "POST", headers, body, signal }).catch(
      (cause) => {
        throw failure(`${name}: the server could not be reached`, cause);
      },
    );
    const fresh = response.headers.get(HEADER);
    if (fresh) token = fresh;
    if (response.status !== 403 || !fresh || last) return response;
  }
}

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

/** Makes an error out of the JSON of one. A code that this page does not know yet is `internal`. */
export function received({ code, message, details }: RPCError): RPCError {
  return new RPCError(isErrorCode(code) ? code : "internal", message, details);
}

/** Makes an error of this side, with what it came from. */
export function failure(message: string, cause: unknown, code: ErrorCode = "internal"): RPCError {
  return Object.assign(new RPCError(code, message), { cause });
}
