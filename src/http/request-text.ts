/**
 * Returns whether a request has a valid `Content-Length`. The HTTP parser enforces that length, so the body does not
 * have to be counted.
 *
 * When unsure, the body is counted: not every host's parser refuses a malformed length, so only digits are accepted.
 */
export function hasDeclaredLength(headers: Headers): boolean {
  return /^\d+$/.test(headers.get("content-length") ?? "");
}

/** Reads the body of a Fetch `Request` as text; resolves with `null` as soon as it is over the limit. */
export async function readRequestText(request: Request, maxBytes: number): Promise<string | null> {
  // The HTTP parser enforces the declared length of a body, which was checked before.
  if (hasDeclaredLength(request.headers)) return request.text();
  if (!request.body) return "";
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  for await (const chunk of request.body) {
    size += chunk.byteLength;
    if (size > maxBytes) return null;
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
