import { bodyTooLargeError, CONNECTION_CLOSE, type RequestContext, RequestError } from "../http/index.ts";
import { MAX_SILENCE_MS, MIN_BYTES_PER_SECOND, UploadPace } from "./upload-pace.ts";

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
