import { RPCError } from "../errors.ts";
import type { RequestContext } from "../http/index.ts";
import type { Log } from "../log.ts";
import { ValueError } from "./value-error.ts";

/**
 * Gives the error that a caller is told of.
 *
 * An `RPCError` is told as it is. `ValueError` and `TypeError` are told as `validation_error` with
 * their message, and logged with their stack, since in JavaScript a TypeError may be a slip.
 * Anything else is told as `internal` in general words; its stack goes to the log with the
 * request's id.
 *
 * @see the interface, "Errors", rules 1 and 2
 */
export function failureOf(error: unknown, context: RequestContext, log: Log, what: string): RPCError {
  if (error instanceof RPCError) return error;
  if (error instanceof ValueError || error instanceof TypeError) {
    log.warn({ id: context.id, err: error }, `${what} refused a value`);
    return new RPCError("validation_error", error.message);
  }
  log.error({ id: context.id, err: error }, `${what} failed`);
  return new RPCError("internal", `Something went wrong on the server. The log has it under request ${context.id}.`);
}

/** Writes an error as the interface's error body has it: `{"code","message","details"}`. */
export function errorBody({ code, message, details }: RPCError): { code: string; message: string; details: object } {
  return { code, message, details };
}
