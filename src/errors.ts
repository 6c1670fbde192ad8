/**
 * The error codes that a call can fail with, and their HTTP statuses. Used by the server, the browser and the client.
 *
 * @see docs/protocol.md 5.3
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

/** The code of an {@link RPCError}. */
export type ErrorCode = keyof typeof STATUS;

const CODES = Object.keys(STATUS) as ErrorCode[]; // Object.keys returns string[]; these are the keys of STATUS

/** Returns whether a value is an error code. */
export function isErrorCode(value: unknown): value is ErrorCode {
  return CODES.includes(value as ErrorCode); // includes() accepts only members of the array
}

/** Returns the HTTP status of an error code. */
export function statusOf(code: ErrorCode): (typeof STATUS)[ErrorCode] {
  return STATUS[code];
}

/** Returns the error code of an HTTP status; `undefined` if no code has it. */
export function codeOf(status: number): ErrorCode | undefined {
  return CODES.find((code) => STATUS[code] === status);
}

/**
 * An error for the caller. A server function throws it, and the browser catches it with the same `code`, `message` and
 * `details`.
 *
 * @param code determines the HTTP status
 * @param message sent to the caller as it is: never put a secret in it
 * @param details a plain object with further data for the caller
 * @throws TypeError if the code is not in the table
 * @see docs/protocol.md 5.3
 * @example throw new RPCError("conflict", "This address is registered already.")
 */
export class RPCError extends Error {
  declare readonly code: ErrorCode;
  declare readonly details: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, message: string, details: Readonly<Record<string, unknown>> = {}) {
    if (!isErrorCode(code)) {
      throw new TypeError(`Unknown code ${code}; use ${CODES}`);
    }
    super(message);
    this.code = code;
    this.details = details;
  }

  override get name(): string {
    return "RPCError";
  }

  /** Returns the message without the name, so that `String(error)` can be shown to a user. */
  override toString(): string {
    return this.message;
  }
}

/**
 * Thrown by application code that rejects a value. The caller of the server function receives `validation_error` with
 * this message: never put a secret in it. The stack is logged.
 *
 * @see docs/protocol.md 5.4
 */
export class ValueError extends Error {
  override get name(): string {
    return "ValueError";
  }
}
