/**
 * Calls server functions over HTTP, as a script does: without an origin and a CSRF token.
 */

/** The response of a call. */
export interface CallResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Calls a server function and returns the response. @throws Error if there is no response */
export async function sendCall(
  origin: string,
  name: string,
  args: object = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<CallResponse> {
  const response = await fetch(`${origin}/__web/rpc/${name}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ args }),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/**
 * Calls a server function and returns its result.
 *
 * @throws Error with the response body if the status is not 200, and if there is no response
 */
export async function callFunction<T>(
  origin: string,
  name: string,
  args: object = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<T> {
  const { status, text } = await sendCall(origin, name, args, headers);
  if (status !== 200) throw new Error(`The call of ${name} failed with status ${status}: ${text}`);
  return JSON.parse(text).result;
}
