import {
  adviseDeveloper,
  type ByteCounter,
  CONNECTION_CLOSE,
  formatBytes,
  type InboundRequest,
  type RequestContext,
  RequestError,
} from "../http/index.ts";
import { JSON_TYPE } from "../protocol/index.ts";

/** The maximum size of a request body without a limit of its own, in bytes. @see docs/protocol.md 2.7 */
export const MAX_BODY_BYTES = 1024 * 1024;

/** The maximum of bytes of bodies that one client has in flight. @see docs/protocol.md 2.7 */
export const MAX_BODY_BYTES_PER_CLIENT = 16 * MAX_BODY_BYTES;

/** The time that a body has to arrive, in seconds. @see docs/protocol.md 2.7 */
export const BODY_TIMEOUT_SECONDS = 30;

/** Returns the error for a body over its maximum: status 413, and the connection is closed. */
export function bodyTooLargeError(maxBytes = MAX_BODY_BYTES): RequestError {
  const message = `This is too large to be sent. The maximum is ${formatBytes(maxBytes)}.`;
  const error = new RequestError("validation_error", message, { status: 413, headers: CONNECTION_CLOSE });
  bodyMaximums.set(error, maxBytes);
  return error;
}

/** The maximum that a body was over, of the errors about one. Entries live as long as the error. */
const bodyMaximums = new WeakMap<Error, number>();

/**
 * Adds to the error for a body over the `max_body` of a function, in development, how to raise it. The log contains it,
 * and no client receives it. Other errors stay as they are.
 *
 * @param limit.name the function
 * @param limit.maxBytes the maximum of its bodies, in bytes
 */
export function adviseMaxBody(
  error: unknown,
  { config }: Pick<RequestContext, "config">,
  { name, maxBytes }: { readonly name: string; readonly maxBytes: number },
): void {
  if (config.production || !(error instanceof Error) || bodyMaximums.get(error) !== maxBytes) return;
  const advice = `It was sent to ${name}, whose option max_body is the maximum, in bytes: server({ max_body: 10_000_000 }, …).`;
  adviseDeveloper(error, advice);
}

/**
 * Refuses a request whose `Content-Length` is over `maxBytes`, before anything of the body is read.
 *
 * A value that is not a number passes: every body is counted while it is read.
 *
 * @param maxBytes the maximum; by default {@link MAX_BODY_BYTES}
 * @throws RequestError 413
 */
export function checkDeclaredLength(inbound: InboundRequest, maxBytes = MAX_BODY_BYTES): void {
  if (Number(inbound.header("content-length") ?? 0) > maxBytes) throw bodyTooLargeError(maxBytes);
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
 * most `maxBytes` are held in memory, and {@link MAX_BODY_BYTES_PER_CLIENT} for one client.
 *
 * A declared length counts for the client from the start, and what exceeds it as it arrives: not every host ends a body there.
 *
 * @param maxBytes the maximum; by default {@link MAX_BODY_BYTES}
 * @throws RequestError 413 over `maxBytes`; 429 over {@link MAX_BODY_BYTES_PER_CLIENT}; 408 after
 *   {@link BODY_TIMEOUT_SECONDS}; 400 if the connection ends before the body has arrived. None of these is logged as a
 *   failure of the server.
 * @throws BodyUsedError, or the platform's TypeError, if the host has read the body
 * @see docs/protocol.md 2.7
 */
export function readBody(context: RequestContext, maxBytes = MAX_BODY_BYTES): string | Promise<string> {
  const { inbound } = context;
  const declared = inbound.header("content-length");
  const length = Number(declared ?? 0);
  if (length > maxBytes) throw bodyTooLargeError(maxBytes);
  const isDeclared = declared !== null && /^\d+$/.test(declared);
  if (isDeclared) context.takeBodyBytes(length);
  const counted = isDeclared ? length : 0;
  return inbound.bufferedBody() ?? readWithTimeout(inbound, bodyCounter(context, { maxBytes, counted }));
}

/**
 * Reads and discards a body of unknown length, for a request whose handler reads none. A declared length has been
 * checked, so the host may discard such a body itself.
 *
 * @throws RequestError as {@link readBody}; 413 also for a body that the host does not pass on
 */
export async function discardBody(context: RequestContext): Promise<void> {
  if (context.inbound.hasHiddenBody) throw bodyTooLargeError();
  await readBody(context);
}

/** What {@link bodyCounter} counts up to. */
export interface BodyCounterOptions {
  /** The maximum; by default {@link MAX_BODY_BYTES}. */
  readonly maxBytes?: number | undefined;
  /** The bytes that count for the client already: the declared length. */
  readonly counted?: number;
}

/**
 * Returns a function that counts the parts of a body.
 *
 * @throws RequestError (the function) 413 over the maximum; 429 over {@link MAX_BODY_BYTES_PER_CLIENT}
 */
export function bodyCounter(
  context: RequestContext,
  { maxBytes = MAX_BODY_BYTES, counted = 0 }: BodyCounterOptions = {},
): ByteCounter {
  let size = 0;
  let taken = counted;
  return (bytes) => {
    size += bytes;
    if (size > maxBytes) throw bodyTooLargeError(maxBytes);
    if (size <= taken) return;
    context.takeBodyBytes(size - taken);
    taken = size;
  };
}

const JSON_CONTENT_TYPE = new RegExp(`^${JSON_TYPE}\\s*(;|$)`, "i");

/** Returns whether a request declares its body as `application/json`, with or without parameters. */
export function isJsonType(inbound: InboundRequest): boolean {
  const type = inbound.header("content-type") ?? "";
  return type === JSON_TYPE || JSON_CONTENT_TYPE.test(type);
}

/**
 * Throws if the body of a request is encoded: with gzip, for example. Its size in memory would not be that of the bytes that
 * are counted.
 *
 * @throws RequestError `validation_error`, status 415
 * @see RFC 9110, section 15.5.16
 */
export function requireIdentityEncoding({ contentEncoding }: InboundRequest): void {
  const error = encodedBodyError(contentEncoding);
  if (error) throw error;
}

/** Returns the error for a body with a `Content-Encoding`, status 415; `null` if it has none but `identity`. */
export function encodedBodyError(encoding: string | null): RequestError | null {
  if (encoding === null || ["", "identity"].includes(encoding.trim().toLowerCase())) return null;
  const message = `The body has the Content-Encoding ${JSON.stringify(encoding.slice(0, 40))}. Send it without an encoding.`;
  return new RequestError("validation_error", message, {
    status: 415,
    headers: { "accept-encoding": "identity", ...CONNECTION_CLOSE },
  });
}

async function readWithTimeout(inbound: InboundRequest, count: ByteCounter): Promise<string> {
  const wasUsed = inbound.bodyUsed;
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(bodyTimeoutError()), BODY_TIMEOUT_SECONDS * 1000);
  });
  try {
    return await Promise.race([inbound.readText(count), timeout]);
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

/** The largest value of the option `max_body`, in bytes: 1 PiB. */
const MAX_BYTES = 2 ** 50;

/**
 * Checks the option `max_body`.
 *
 * @param location the call that has the option, for the error message: `new App`
 * @throws RangeError if it is not a whole number of bytes in range
 */
export function checkMaxBody(bytes: unknown, location: string): asserts bytes is number | undefined {
  if (bytes === undefined) return;
  if (Number.isSafeInteger(bytes) && Number(bytes) >= 1 && Number(bytes) <= MAX_BYTES) return;
  throw new RangeError(
    `${location}: max_body is ${String(bytes)}. It must be a whole number of bytes from 1 to ${MAX_BYTES}, for ` +
      "example 20_000_000.",
  );
}

/** Parts of a body that are shorter are joined. */
const MIN_PART_BYTES = 256;

/**
 * Adds a part of a body to others. Small parts are joined: an attacker can send each byte as a part, and a part uses some
 * hundred bytes of memory in addition to its own.
 */
export function appendPart(parts: Buffer[], part: Buffer): void {
  const last = parts.at(-1);
  if (last === undefined || last.length + part.length > MIN_PART_BYTES) {
    parts.push(part);
    return;
  }
  const joined = Buffer.allocUnsafeSlow(last.length + part.length); // not from the pool, which it would keep in memory
  last.copy(joined);
  part.copy(joined, last.length);
  parts[parts.length - 1] = joined;
}
