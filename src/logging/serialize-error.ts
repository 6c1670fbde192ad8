/** An error as a line of the log has it. */
export interface SerializedError {
  readonly type: string;
  readonly message: string;
  readonly stack?: string;
  readonly cause?: SerializedError;
  /** The errors of an `AggregateError`. */
  readonly errors?: readonly SerializedError[];
  /** What the system says with its errors: `code`, `syscall`, `address` … */
  readonly [fact: string]: unknown;
}

/**
 * The fields of an error that are logged beside its message and stack, where they are a string or a
 * number. Of what else programs hang on errors nobody knows what is in it: clients of HTTP hang on the
 * request, with its `Authorization`; databases the row.
 */
const FACTS = ["code", "errno", "syscall", "address", "port", "path", "dest", "hostname", "status", "statusCode"];

/** How far causes are followed: they may be a circle. */
const MAX_DEPTH = 8;

/** How many errors of an `AggregateError` are told. */
const MAX_ERRORS = 10;

/**
 * Describes what was thrown for the log: kind, message, stack and causes. Nothing else that hangs on
 * it gets into the log; of a value that is no error, only what kind of value it is.
 */
export function serializeError(thrown: unknown, depth = 0): SerializedError {
  if (!(thrown instanceof Error)) return notAnError(thrown);
  const { message, stack, cause } = thrown;
  const follow = (error: unknown) => serializeError(error, depth + 1);
  const errors = thrown instanceof AggregateError ? thrown.errors.slice(0, MAX_ERRORS) : [];
  const goesOn = depth < MAX_DEPTH;
  return {
    type: thrown.constructor?.name || thrown.name,
    message,
    ...(stack === undefined ? {} : { stack }),
    ...factsOf(thrown),
    ...(goesOn && cause !== undefined ? { cause: follow(cause) } : {}),
    ...(goesOn && errors.length > 0 ? { errors: errors.map(follow) } : {}),
  };
}

function notAnError(thrown: unknown): SerializedError {
  if (typeof thrown === "string") return { type: "string", message: thrown };
  const type = typeof thrown === "object" && thrown ? (thrown.constructor?.name ?? "object") : String(typeof thrown);
  return { type, message: `Not an Error but a value of type ${type} was thrown.` };
}

function factsOf(error: Error): Record<string, string | number> {
  const facts: Record<string, string | number> = {};
  for (const name of FACTS) {
    const value: unknown = Reflect.get(error, name);
    if (typeof value === "string" || typeof value === "number") facts[name] = value;
  }
  return facts;
}
