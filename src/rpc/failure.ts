import { RPCError, ValueError } from "../errors.ts";
import type { RequestContext } from "../http/index.ts";
import type { Log } from "../logging/index.ts";
import { toJson } from "../protocol/index.ts";

/**
 * Gives the error that a caller is told of, for what an application's function threw.
 *
 * An `RPCError` is told as it is. `ValueError` and `TypeError` are told as `validation_error` with
 * their message, and logged with their stack; a TypeError as an error, since in JavaScript it may be a slip. A
 * TypeError with a cause tells of something further down (`fetch failed`): no fault of the caller's.
 * Anything else is `internal`.
 *
 * @see the interface, "Errors", rules 1 and 2
 */
export function functionFailureOf(error: unknown, context: RequestContext, log: Log, what: string): RPCError {
  if (error instanceof ValueError) {
    log.warn({ id: context.id, err: error }, `${what} refused a value`);
    return new RPCError("validation_error", error.message);
  }
  if (error instanceof TypeError && error.cause === undefined) {
    log.error({ id: context.id, err: error }, `${what} threw a TypeError, and its caller is told its message`);
    return new RPCError("validation_error", error.message);
  }
  return failureOf(error, context, log, what);
}

/**
 * Gives the error that a caller is told of, for what was thrown on the way: an `RPCError` as it is,
 * anything else as `internal` in general words, its stack in the log with the request's id.
 */
export function failureOf(error: unknown, context: RequestContext, log: Log, what: string): RPCError {
  if (error instanceof RPCError) return error;
  log.error({ id: context.id, err: error }, `${what} failed`);
  return new RPCError("internal", `Something went wrong on the server. The log has it under request ${context.id}.`);
}

/**
 * Writes an error as the interface's error body has it: `{"code","message","details"}`.
 *
 * Details that cannot be written (a cycle, a promise) are left out and logged: the caller still
 * gets the code and the message.
 */
export function errorJson({ code, message, details }: RPCError, context: RequestContext, log: Log): string {
  const head = `{"code":${JSON.stringify(code)},"message":${JSON.stringify(message)}`;
  return `${head},"details":${detailsJson(details, context, log)}}`;
}

function detailsJson(details: object, context: RequestContext, log: Log): string {
  try {
    const json = toJson(details);
    if (json.startsWith("{")) return json;
    throw new TypeError("The details of an RPCError must be an object.");
  } catch (error) {
    log.error({ id: context.id, err: error }, "The details of an RPCError could not be sent");
    return "{}";
  }
}
