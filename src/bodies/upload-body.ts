import { CONNECTION_CLOSE, type RequestContext, RequestError } from "../http/index.ts";
import { bodyTooLargeError } from "./read-body.ts";

/** Reads the next part of a body, as a stream's reader does. */
type Read = () => Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;

/**
 * Returns the body of an upload in chunks, within its limits of size and time.
 *
 * When reading stops early, the body is left as it is: cancelling it makes Bun reset the connection before the response is
 * sent, and Deno discard the rest without a limit.
 *
 * @throws RequestError 413 above `maxBytes`; 408 if it arrives too slowly, see {@link UploadPace}; 400 if the connection
 *   ends before the body has arrived
 */
export async function* uploadBody({ raw, inbound }: RequestContext, maxBytes: number): AsyncGenerator<Uint8Array> {
  if (!raw.body) return;
  inbound.ownTimeLimit();
  const reader = raw.body.getReader();
  const pace = new UploadPace();
  let size = 0;
  try {
    for (;;) {
      const value = await readInTime(() => reader.read(), pace);
      if (!value) return;
      size += value.byteLength;
      if (size > maxBytes) throw bodyTooLargeError(maxBytes);
      yield value;
    }
  } finally {
    // A pending read is rejected by this; its promise has a handler.
    reader.releaseLock();
  }
}

/** Returns the next part of a body; `undefined` at its end. */
async function readInTime(read: Read, pace: UploadPace): Promise<Uint8Array | undefined> {
  const startedAt = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const tooSlow = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(uploadTooSlowError()), pace.maxWaitMs);
  });
  try {
    const next = read().catch(() => {
      throw incompleteBodyError();
    });
    const { done, value } = await Promise.race([next, tooSlow]);
    if (done || !value) return undefined;
    if (!pace.received(value.byteLength, performance.now() - startedAt)) throw uploadTooSlowError();
    return value;
  } finally {
    clearTimeout(timer);
  }
}

function uploadTooSlowError(): RequestError {
  const message =
    `The request body arrived too slowly: nothing for ${MAX_SILENCE_MS / 1000} seconds, or less than ` +
    `${MIN_BYTES_PER_SECOND} bytes per second.`;
  return new RequestError("validation_error", message, { status: 408, headers: CONNECTION_CLOSE });
}

function incompleteBodyError(): RequestError {
  return new RequestError("validation_error", "The connection ended before the request body had arrived.", {
    status: 400,
    headers: CONNECTION_CLOSE,
  });
}

/** How long an upload may bring nothing, in milliseconds. @see docs/protocol.md 2.7 */
export const MAX_SILENCE_MS = 30_000;

/** The time over which the rate of an upload is averaged, in milliseconds. */
export const RATE_WINDOW_MS = 60_000;

/** The minimum rate of an upload, in bytes per second. @see docs/protocol.md 2.7 */
export const MIN_BYTES_PER_SECOND = 4 * 1024;

/** The bytes that must arrive in a window. */
const MIN_WINDOW_BYTES = (MIN_BYTES_PER_SECOND * RATE_WINDOW_MS) / 1000;

/**
 * Decides whether an upload is too slow: nothing for 30 s, or less than 4 KiB/s on average over a minute. Only the time
 * in which the server waits for the client counts, and not the time that it takes to store what has arrived.
 *
 * It has no clock and no timer: the caller measures.
 */
export class UploadPace {
  #windowMs = 0;
  #windowBytes = 0;

  /** Returns how long to wait for the next bytes, in milliseconds, before the upload is too slow. */
  get maxWaitMs(): number {
    const isBehind = this.#windowBytes < MIN_WINDOW_BYTES;
    return isBehind ? Math.min(MAX_SILENCE_MS, Math.max(0, RATE_WINDOW_MS - this.#windowMs)) : MAX_SILENCE_MS;
  }

  /** Counts bytes that have arrived after a wait. Returns `false` if the upload is too slow. */
  received(bytes: number, waitedMs: number): boolean {
    this.#windowMs += waitedMs;
    this.#windowBytes += bytes;
    if (this.#windowMs < RATE_WINDOW_MS) return true;
    const isFastEnough = this.#windowBytes >= MIN_WINDOW_BYTES;
    this.#windowMs = 0;
    this.#windowBytes = 0;
    return isFastEnough;
  }
}
