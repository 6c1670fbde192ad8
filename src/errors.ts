/**
 * The errors that may cross the wire. One table; the browser and the server share it.
 *
 * @see the interface, "Errors"
 */
const STATUS = {
  validation_error: 422,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  rate_limited: 429,
  timeout: 504,
  internal: 500,
} as const;

/** The codes of the interface; every {@link RPCError} carries one of them. */
export type ErrorCode = keyof typeof STATUS;

const CODES = Object.keys(STATUS) as ErrorCode[]; // the table's own keys

/** Answers whether a value is one of the interface's error codes. */
export function isErrorCode(value: unknown): value is ErrorCode {
  return CODES.includes(value as ErrorCode); // whatever it is, it is looked for
}

/** Gives the HTTP status of an error code. */
export function statusOf(code: ErrorCode): (typeof STATUS)[ErrorCode] {
  return STATUS[code];
}

/** Gives the code that a status stands for; `undefined` for a status of none. */
export function codeOf(status: number): ErrorCode | undefined {
  return CODES.find((code) => STATUS[code] === status);
}

/**
 * An error for the caller to handle: thrown on the server, caught in the browser with the same
 * `code`, `message` and `details`.
 *
 * @param code one of the interface's codes; it decides the HTTP status
 * @param message shown to the caller as it is: put no secret in it
 * @param details a plain object of anything else the caller can use
 * @throws TypeError for a code that is not in the table, where the error is made
 * @example throw new RPCError("conflict", "That address is registered already.")
 */
export class RPCError extends Error {
  declare readonly code: ErrorCode;
  declare readonly details: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, message: string, details: Readonly<Record<string, unknown>> = {}) {
    if (!isErrorCode(code)) {
      throw new TypeError(`${String(code)} is none of ${CODES}`);
    }
    super(message);
    this.code = code;
    this.details = details;
  }

  override get name(): string {
    return "RPCError";
  }

  /** Gives the message alone, so that `String(error)` can be shown. */
  override toString(): string {
    return this.message;
  }
}

/**
 * Says that a value is not one the function can work with: the caller gets it as
 * `validation_error` with this message, and the log gets its stack.
 *
 * @see the interface, "Errors", rule 1
 */
export class ValueError extends Error {
  override get name(): string {
    return "ValueError";
  }
}
