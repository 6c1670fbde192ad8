import { RPCError } from "../errors.ts";
import type { RequestContext } from "./request-context.ts";
import { CONNECTION_CLOSE, RequestError } from "./request-error.ts";

/**
 * Returns whether an error is a consequence of the client's disconnection: the request's signal has aborted what the
 * application was waiting for. This is not a failure of the application, so it is not logged as one.
 *
 * Any other error is a failure, also after the disconnection. So is an `RPCError`, such as the one of the time limit.
 */
export function isDisconnection({ inbound }: Pick<RequestContext, "inbound">, error: unknown): boolean {
  return !(error instanceof RPCError) && isAbortError(error, inbound.signal);
}

/**
 * Returns whether an error comes from a signal that has aborted: it is the reason of the signal, has it as its cause, or
 * is an `AbortError` without a cause. An `AbortError` with another cause comes from another signal.
 */
export function isAbortError(error: unknown, { aborted, reason }: AbortSignal): boolean {
  if (!aborted) return false;
  if (error === reason) return true;
  if (!(error instanceof Error)) return false;
  if (error.cause !== undefined) return error.cause === reason;
  return error.name === "AbortError" || ("code" in error && error.code === "ABORT_ERR");
}

/** Returns the error that ends a request whose client has disconnected. Nobody receives it. */
export function disconnectedError(): RequestError {
  return new RequestError("validation_error", "The client disconnected before the response was sent.", {
    status: 400,
    headers: CONNECTION_CLOSE,
  });
}
