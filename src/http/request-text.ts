/**
 * Returns whether a request has a valid `Content-Length`. The body may be longer: only a host whose parser has read it ends it
 * there, see `InboundRequest.enforcesLength`.
 *
 * Not every host's parser refuses a malformed length, so only digits are accepted.
 */
export function hasDeclaredLength(headers: Headers): boolean {
  return /^\d+$/.test(headers.get("content-length") ?? "");
}

/** Called with the size of each part of a body. It throws to stop reading. */
export type ByteCounter = (bytes: number) => void;

/**
 * Reads the body of a Fetch `Request` as text.
 *
 * If `count` throws, the body is left as it is. Cancelling it makes Bun reset the connection before the response is sent,
 * and Deno discard the rest without a limit.
 */
export async function readRequestText(request: Request, count: ByteCounter): Promise<string> {
  if (!request.body) return "";
  if (request.bodyUsed) return request.text(); // rejects
  const decoder = new TextDecoder();
  const reader = request.body.getReader();
  let text = "";
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      count(next.value.byteLength);
      text += decoder.decode(next.value, { stream: true });
    }
  } finally {
    reader.releaseLock();
  }
  return text + decoder.decode();
}
