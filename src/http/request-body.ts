import type { InboundRequest } from "./inbound-request.ts";
import { CONNECTION_CLOSE, RequestError } from "./request-error.ts";

/** The maximum size of a request body, in bytes. @see docs/protocol.md 2.7 */
export const MAX_BODY_BYTES = 1024 * 1024;

/** The time that a body has to arrive, in seconds. @see docs/protocol.md 2.7 */
export const BODY_TIMEOUT_SECONDS = 30;

/** Returns the error for a body over {@link MAX_BODY_BYTES}: status 413, and the connection is closed. */
export function bodyTooLargeError(): RequestError {
  const message = `The request body is larger than ${MAX_BODY_BYTES} bytes, the maximum.`;
  return new RequestError("validation_error", message, { status: 413, headers: CONNECTION_CLOSE });
}

/**
 * Refuses a request whose `Content-Length` is over {@link MAX_BODY_BYTES}, before anything of the body is read.
 *
 * A value that is not a number passes: such a body is counted while it is read.
 *
 * @throws RequestError 413
 */
export function checkDeclaredLength(inbound: InboundRequest): void {
  if (Number(inbound.header("content-length") ?? 0) > MAX_BODY_BYTES) throw bodyTooLargeError();
}

/**
 * Thrown when the host has read the body before tsweb and did not pass it on. This is a mistake in the host
 * application, not of the client.
 *
 * Check `error.name`, not `instanceof`: a built application and its host each load a copy of this class.
 */
export class BodyUsedError extends Error {
  override get name(): string {
    return "BodyUsedError";
  }
}

/**
 * Returns the body of a request as text: synchronously if it has been received already, otherwise as a promise. At
 * most {@link MAX_BODY_BYTES} are held in memory.
 *
 * @throws RequestError 413 over {@link MAX_BODY_BYTES}; 408 after {@link BODY_TIMEOUT_SECONDS}; 400 if the connection
 *   ends before the body has arrived. None of these is logged as a failure of the server.
 * @throws BodyUsedError, or the platform's TypeError, if the host has read the body
 * @see docs/protocol.md 2.7
 */
export function readBody(inbound: InboundRequest): string | Promise<string> {
  checkDeclaredLength(inbound);
  return inbound.bufferedBody() ?? readWithTimeout(inbound);
}

async function readWithTimeout(inbound: InboundRequest): Promise<string> {
  const wasUsed = inbound.bodyUsed;
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(bodyTimeoutError()), BODY_TIMEOUT_SECONDS * 1000);
  });
  try {
    const text = await Promise.race([inbound.readText(MAX_BODY_BYTES), timeout]);
    if (text === null) throw bodyTooLargeError();
    return text;
  } catch (error) {
    const isUsed = error instanceof Error && error.name === "BodyUsedError";
    if (error instanceof RequestError || isUsed || wasUsed) throw error;
    throw new RequestError("validation_error", "The connection ended before the request body had arrived.", {
      status: 400,
      headers: CONNECTION_CLOSE,
    });
  } finally {
    clearTimeout(timer);
  }
}

function bodyTimeoutError(): RequestError {
  const message = `The request body took longer than ${BODY_TIMEOUT_SECONDS} seconds to arrive.`;
  return new RequestError("validation_error", message, { status: 408, headers: CONNECTION_CLOSE });
}
