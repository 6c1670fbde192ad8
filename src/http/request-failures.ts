import { RPCError } from "../errors.ts";
import type { AppLog, RefusalReason } from "../logging/index.ts";
import type { RequestContext } from "./request-context.ts";
import { CONNECTION_CLOSE, RequestError, UnavailableError } from "./request-error.ts";

const NO_ADDRESS =
  "Requests have no client address, so all clients share one limit. Pass the address: app.fetch(request, { address }), and with " +
  "WEB_TRUST_PROXY let the proxy add X-Forwarded-For";

/**
 * Logs that tsweb has refused a request because of its rate or its size, or because the bus is unreachable. Other refusals are those of a single client that
 * is mistaken, and its response describes them; one because of the origin is logged where it is decided.
 *
 * Call it once for each error that becomes a response.
 */
export function logRefusal(error: unknown, { id, address }: RequestContext, log: AppLog): void {
  const reason = refusalReason(error);
  if (!(error instanceof RequestError) || reason === null) return;
  const isShared = reason === "rate" && address === "";
  const text = error instanceof UnavailableError ? error.reason : error.message;
  log.refused(reason, { id, address }, isShared ? NO_ADDRESS : [text, advice.get(error) ?? ""].join(" ").trimEnd());
}

/** Returns why tsweb has refused a request; `null` for a mistake of the client. */
function refusalReason(error: unknown): RefusalReason | null {
  if (!(error instanceof RequestError)) return null;
  if (error instanceof UnavailableError) return "bus";
  if (error.status === 413) return "size";
  return error.code === "rate_limited" ? "rate" : null;
}

/** What the log says about an error besides its message, which the client receives. Entries live as long as the error. */
const advice = new WeakMap<Error, string>();

/** Adds advice for the developer to an error: it is logged with the error, and no client receives it. */
export function adviseDeveloper<E extends Error>(error: E, text: string): E {
  advice.set(error, text);
  return error;
}

/** Logs an error that the application has thrown on purpose. Its message is the one that the client receives. */
export function logExpectedError(
  error: RPCError | Error,
  { id }: RequestContext,
  log: AppLog,
  operation: string,
): void {
  const code = error instanceof RPCError ? error.code : "validation_error";
  const reason = [error.message, advice.get(error) ?? ""].join(" ").trimEnd();
  log.info({ id, code, reason }, `${operation} threw an expected error`);
}

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
