import { RPCError } from "../errors.ts";
import { RequestError } from "../http/index.ts";
import { fieldErrors } from "../protocol/index.ts";

/** The message of an error that is about several fields. */
const SEVERAL_FIELDS = "Please check the marked fields.";

/**
 * Returns the error for fields that do not match: `validation_error` with all messages in `details.errors`, and the
 * first field in `details.parameter`.
 *
 * @param errors at least one message, by field
 * @see docs/protocol.md 15.4
 */
export function invalidFieldsError(errors: ReadonlyMap<string, string>): RPCError {
  const [[parameter, first] = ["", SEVERAL_FIELDS]] = errors;
  const message = errors.size === 1 ? first : SEVERAL_FIELDS;
  return new RPCError("validation_error", message, { parameter, errors: Object.fromEntries(errors) });
}

/**
 * Returns the error of a form with its messages by field in `details.errors`. The function may have thrown an error
 * with `details.parameter` only.
 */
export function withFieldErrors(error: RPCError): RPCError {
  const errors = fieldErrors(error);
  if (Object.keys(errors).length === 0 && error.details.errors === undefined) return error;
  const details = { ...error.details, errors };
  if (!(error instanceof RequestError)) return new RPCError(error.code, error.message, details);
  const { status, headers } = error;
  return new RequestError(error.code, error.message, { status, headers, details });
}
