import { type SerializedError, serializeError } from "./serialize-error.ts";

/**
 * Returns an error with only those fields of a thrown value that {@link serializeError} returns, for loggers that write
 * all fields of an error: those of HTTP and database clients contain secrets. Its class has the name of the original one.
 */
export function safeError(thrown: unknown): Error {
  return toError(serializeError(thrown));
}

function toError({ type, message, stack, cause, errors, ...fields }: SerializedError): Error {
  const NamedError = { [type]: class extends Error {} }[type] ?? Error;
  const error = new NamedError(message, cause ? { cause: toError(cause) } : {});
  Object.assign(error, fields, errors ? { errors: errors.map(toError) } : {});
  error.stack = stack ?? `${type}: ${message}`;
  return error;
}
