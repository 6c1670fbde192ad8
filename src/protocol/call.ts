/**
 * Calls: their type, their arguments by name, the reading of their responses, and bearer tokens. Used by the browser and the client.
 *
 * @see docs/protocol.md 3.1, 3.3, 5.2 and 7.9
 */
import { codeOf, type ErrorCode, isErrorCode, RPCError } from "../errors.ts";

/**
 * The return type of a server function that returns one result: a promise of it that can be cancelled. A type of the
 * server, the browser and the client.
 *
 * @see docs/protocol.md 3.7
 */
export interface Call<T> extends Promise<T> {
  /**
   * Cancels the call: the promise rejects with a `DOMException` whose name is `AbortError`, like that of an aborted
   * `fetch`. It has no effect after the promise has settled. The rejection need not be handled.
   *
   * The request is aborted, so `request.signal` aborts on the server. A function that ignores the signal runs to its
   * end: its changes may have been made. For a call from server code there is no request, and the function always runs
   * to its end.
   */
  cancel(): void;
}

/** Returns the error of a cancelled call. It is not an `RPCError`, because the server has not sent it. */
export function cancelledError(name: string): DOMException {
  return new DOMException(`${name}: the call was cancelled`, "AbortError");
}

/**
 * Resolves with the result of work that does not accept a signal, or rejects when the signal aborts, whichever is first. The
 * work is not stopped.
 *
 * @throws the signal's reason, or the error of the work
 */
export async function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let onAbort: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort);
  });
  try {
    // The race also handles a rejection of the work after the abortion.
    return await Promise.race([aborted, work]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** The options of one call. */
export interface CallOptions {
  /**
   * Makes a call of a function with the option `idempotent` one of several sendings, of which one runs: 16 to 128 letters, digits, `-`
   * and `_`, made at random. Default: each call runs.
   */
  readonly key?: string;
}

/** Arguments by the names of their parameters. */
export type Arguments = Readonly<Record<string, unknown>>;

/**
 * Returns the arguments by name. Those that are `undefined` are dropped later, by `JSON.stringify`. Arguments without a
 * parameter are ignored: `checkArgumentCount` refuses them, which production pages do not load.
 *
 * @param params the names of the positional parameters; `undefined` if the function takes one object of its parameters
 */
export function toNamedArguments(params: readonly string[] | undefined, values: readonly unknown[]): Arguments {
  // Without `params`, the function's type allows one object only.
  return params ? Object.fromEntries(params.map((param, i) => [param, values[i]])) : ((values[0] ?? {}) as Arguments);
}

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

/** A bearer token, or a function that returns it or a promise of it. */
export type BearerSource = string | (() => string | Promise<string>);

/** The characters of a bearer token. @see RFC 6750, section 2.1 */
export const BEARER_TOKEN = /^[\w\-.~+/]+=*$/;

/**
 * Returns the header `Authorization` of a request.
 *
 * @param source where the token comes from
 * @param caller the function with the option `bearer`, for the message
 * @throws TypeError for a token that no server accepts, and what the function throws
 */
export async function authorizationOf(source: BearerSource, caller: string): Promise<string> {
  const token: unknown = typeof source === "function" ? await source() : source;
  checkBearerToken(token, caller);
  return `Bearer ${token}`;
}

/**
 * Checks the option `bearer` of a client. What a function returns is checked when it is called.
 *
 * @throws TypeError for a token that no server accepts, or if the headers have one too. No token is in the message.
 */
export function checkBearerSource(source: BearerSource, headers: Headers, caller: string): void {
  if (typeof source !== "function") checkBearerToken(source, caller);
  if (headers.has("authorization")) {
    throw new TypeError(`${caller}: headers.authorization and bearer are both set. Remove one of them.`);
  }
}

function checkBearerToken(token: unknown, caller: string): asserts token is string {
  if (typeof token === "string" && BEARER_TOKEN.test(token)) return;
  const isText = typeof token === "string" && token !== "";
  const received = isText
    ? "a text with other characters"
    : token === ""
      ? "an empty text"
      : `a value of type ${typeof token}`;
  throw new TypeError(
    `${caller}: bearer must be a token of letters, digits and - . _ ~ + /, or a function that returns one. Received: ${received}.`,
  );
}
