// `tsweb build` copies this file beside the built application, so it imports nothing.

/** An error in the form in which it is logged. */
export interface SerializedError {
  readonly type: string;
  readonly message: string;
  readonly stack?: string;
  readonly cause?: SerializedError;
  /** The errors of an `AggregateError`. */
  readonly errors?: readonly SerializedError[];
  /** Further fields of system errors, such as `code`, `syscall` and `address`. */
  readonly [field: string]: unknown;
}

/**
 * The fields of an error that are logged besides message and stack, if they are strings or numbers. All others are
 * omitted, because they may contain secrets: HTTP clients attach the request with its `Authorization` header, and
 * database clients the row.
 */
const LOGGED_FIELDS = [
  "code",
  "errno",
  "syscall",
  "address",
  "port",
  "path",
  "dest",
  "hostname",
  "status",
  "statusCode",
];

/** The maximum depth of causes. A cause may refer back to its error. */
const MAX_DEPTH = 8;

/** The maximum number of errors of an `AggregateError` that are logged. */
const MAX_ERRORS = 10;

/**
 * Returns the logged form of a thrown value: type, message, stack, causes and the fields of {@link LOGGED_FIELDS}. When
 * unsure, a field is omitted. For a string, its text is logged, and for any other value only its type.
 */
export function serializeError(thrown: unknown, depth = 0): SerializedError {
  if (!(thrown instanceof Error)) return serializeValue(thrown);
  const { message, stack, cause } = thrown;
  const serializeNested = (error: unknown) => serializeError(error, depth + 1);
  const errors = thrown instanceof AggregateError ? thrown.errors.slice(0, MAX_ERRORS) : [];
  const includesNested = depth < MAX_DEPTH;
  return {
    type: thrown.constructor?.name || thrown.name,
    message,
    ...(stack === undefined ? {} : { stack }),
    ...loggedFields(thrown),
    ...(includesNested && cause !== undefined ? { cause: serializeNested(cause) } : {}),
    ...(includesNested && errors.length > 0 ? { errors: errors.map(serializeNested) } : {}),
  };
}

function serializeValue(thrown: unknown): SerializedError {
  if (typeof thrown === "string") return { type: "string", message: thrown };
  const type = typeof thrown === "object" && thrown ? (thrown.constructor?.name ?? "object") : String(typeof thrown);
  return { type, message: `A value of type ${type} was thrown instead of an Error.` };
}

function loggedFields(error: Error): Record<string, string | number> {
  const fields: Record<string, string | number> = {};
  for (const name of LOGGED_FIELDS) {
    const value: unknown = Reflect.get(error, name);
    if (typeof value === "string" || typeof value === "number") fields[name] = value;
  }
  return fields;
}
