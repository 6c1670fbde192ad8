import type { RequestContext } from "./request-context.ts";
import { CONNECTION_CLOSE, RequestError } from "./request-error.ts";

/**
 * Returns whether an error is a consequence of the client's disconnection: the request's signal has aborted what the
 * application was waiting for. This is not a failure of the application, so it is not logged as one.
 *
 * Any other error is a failure, also after the disconnection, such as the one of the time limit.
 */
export function isDisconnection({ inbound }: Pick<RequestContext, "inbound">, error: unknown): boolean {
  return isAbortError(error, inbound.signal);
}

/** How many errors of a chain of causes are compared: a cause may refer back to an earlier one. */
const MAX_CAUSES = 10;

/**
 * Returns whether an error comes from a signal that has aborted: it is the reason of the signal, has it in its chain of
 * causes, or is an `AbortError` without a cause. An `AbortError` with another cause comes from another signal.
 */
export function isAbortError(error: unknown, { aborted, reason }: AbortSignal): boolean {
  if (!aborted) return false;
  let cause = error;
  for (let depth = 0; depth < MAX_CAUSES; depth++) {
    if (cause === reason) return true;
    if (!(cause instanceof Error) || cause.cause === undefined) break;
    cause = cause.cause;
  }
  if (!(error instanceof Error) || error.cause !== undefined) return false;
  return error.name === "AbortError" || ("code" in error && error.code === "ABORT_ERR");
}

/** Returns the error that ends a request whose client has disconnected. Nobody receives it. */
export function disconnectedError(): RequestError {
  return new RequestError("validation_error", "The client disconnected before the response was sent.", {
    status: 400,
    headers: CONNECTION_CLOSE,
  });
}
