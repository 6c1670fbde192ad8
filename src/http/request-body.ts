import type { InboundRequest } from "./inbound-request.ts";
import { CONNECTION_CLOSE, RequestError } from "./request-error.ts";

/** The most a request's body may hold, in bytes. @see the interface, "Limits" */
export const MAX_BODY_BYTES = 1024 * 1024;

/** The refusal of a body over the limit. */
export function bodyTooLargeError(): RequestError {
  return new RequestError(
    "validation_error",
    `The request body is over ${MAX_BODY_BYTES} bytes, the most that is taken.`,
    {
      status: 413,
      headers: CONNECTION_CLOSE,
    },
  );
}

/**
 * Refuses a request that says of itself that its body is too large.
 *
 * @throws Refusal 413
 */
export function checkDeclaredLength(inbound: InboundRequest): void {
  if (Number(inbound.header("content-length") ?? 0) > MAX_BODY_BYTES) throw bodyTooLargeError();
}

/**
 * Answers whether a request says how long its body is: the HTTP parser holds it to that, so it needs
 * no counting. What is no length is never taken for one, since not every host's parser refuses it.
 */
export function hasDeclaredLength(headers: Headers): boolean {
  return /^\d+$/.test(headers.get("content-length") ?? "");
}

/** How long a body may take to arrive, in seconds. */
export const BODY_TIMEOUT_SECONDS = 30;

/**
 * A body that the host has read before us, and did not hand on: its mistake, and none of the caller's.
 * Known by its name: the host's adapter and a built application each have a copy of this.
 */
export class BodyUsedError extends Error {
  override get name(): string {
    return "BodyUsedError";
  }
}

/**
 * Reads a request's body as text, up to the limit: refused as soon as it is known to be over it,
 * and never held in memory beyond it. It is given at once where it has arrived.
 *
 * @throws Refusal 413 over {@link MAX_BODY_BYTES}; 408 when it takes longer than 30 seconds to arrive; 400 when
 *   it breaks off half way, which is no failure of ours and none to be logged as one
 * @throws BodyUsedError, or the platform's TypeError, when the host has read it
 */
export function readBody(inbound: InboundRequest): string | Promise<string> {
  checkDeclaredLength(inbound);
  return inbound.bufferedBody() ?? bodyInTime(inbound.request);
}

async function bodyInTime(request: Request): Promise<string> {
  const wasUsed = request.bodyUsed;
  let timer: NodeJS.Timeout | undefined;
  const tooSlow = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new RequestError("validation_error", SLOW, { status: 408, headers: CONNECTION_CLOSE })),
      BODY_TIMEOUT_SECONDS * 1000,
    );
  });
  try {
    return await Promise.race([hasDeclaredLength(request.headers) ? request.text() : readCounted(request), tooSlow]);
  } catch (error) {
    const isUsed = error instanceof Error && error.name === "BodyUsedError";
    if (error instanceof RequestError || isUsed || wasUsed) throw error;
    throw new RequestError("validation_error", "The request ended before its body had arrived.", {
      status: 400,
      headers: CONNECTION_CLOSE,
    });
  } finally {
    clearTimeout(timer);
  }
}

const SLOW = `The request body took longer than ${BODY_TIMEOUT_SECONDS} seconds to arrive.`;

async function readCounted(request: Request): Promise<string> {
  if (!request.body) return "";
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  for await (const chunk of request.body) {
    size += chunk.byteLength;
    if (size > MAX_BODY_BYTES) throw bodyTooLargeError();
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
