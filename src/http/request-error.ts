import { type ErrorCode, RPCError, statusOf } from "../errors.ts";

/** What a refusal says beside its code. */
export interface RequestErrorOptions {
  /** The status, where it is not the code's own. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Anything else that the caller can use. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/**
 * A request that the pipeline itself refuses: an error of the interface's codes with the status
 * and headers that the rule it broke asks for.
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
 * The header that a refusal carries when the body was not read: what is still on its way must not
 * be taken for the next request.
 */
export const CONNECTION_CLOSE = { connection: "close" } as const;
