import { type ErrorCode, RPCError, statusOf } from "../errors.ts";

/** The options of a {@link RequestError}. */
export interface RequestErrorOptions {
  /** The status, if it differs from that of the code. */
  readonly status?: number;
  /** Further headers of the response. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The `details` of the error body. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/**
 * Thrown when the server itself refuses a request, before or instead of running a function of the application. It has
 * the status and the headers of the check that failed.
 *
 * @see docs/protocol.md 3.2 and 5.3
 */
export class RequestError extends RPCError {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, message: string, options: RequestErrorOptions = {}) {
    super(code, message, options.details);
    this.status = options.status ?? statusOf(code);
    this.headers = options.headers ?? {};
  }
}

/**
 * Thrown when a server that the request needs is unreachable: status 503. It has no `Retry-After`, because a call may have
 * changed something before; a page adds it, because it is requested with GET.
 */
export class UnavailableError extends RequestError {
  /** What is unreachable, for the log. */
  readonly reason: string;

  constructor(reason: string) {
    super("internal", "A part of the server is not available at the moment. Please try again later.", { status: 503 });
    this.reason = reason;
  }
}

/**
 * The header of a response to a request whose body was not read. It prevents request smuggling: the rest of the body
 * must not be parsed as the next request.
 *
 * @see docs/protocol.md 2.9
 */
export const CONNECTION_CLOSE = { connection: "close" } as const;
