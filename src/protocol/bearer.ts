/** A bearer token, or a function that returns it or a promise of it. */
export type BearerSource = string | (() => string | Promise<string>);

/** The characters of a bearer token. @see RFC 6750, section 2.1 */
export const BEARER_TOKEN = /^[\w\-.~+/]+=*$/;

/**
 * Returns the header `Authorization` of a request.
 *
 * @param source where the token comes from
 * @param caller the function with the option `bearer`, for the message
 * @throws TypeError for a token that no server accepts, and what the function throws
 */
export async function authorizationOf(source: BearerSource, caller: string): Promise<string> {
  const token: unknown = typeof source === "function" ? await source() : source;
  checkBearerToken(token, caller);
  return `Bearer ${token}`;
}

/**
 * Checks the option `bearer` of a client. What a function returns is checked when it is called.
 *
 * @throws TypeError for a token that no server accepts, or if the headers have one too. No token is in the message.
 */
export function checkBearerSource(source: BearerSource, headers: Headers, caller: string): void {
  if (typeof source !== "function") checkBearerToken(source, caller);
  if (headers.has("authorization")) {
    throw new TypeError(`${caller}: headers.authorization and bearer are both set. Remove one of them.`);
  }
}

function checkBearerToken(token: unknown, caller: string): asserts token is string {
  if (typeof token === "string" && BEARER_TOKEN.test(token)) return;
  const isText = typeof token === "string" && token !== "";
  const received = isText
    ? "a text with other characters"
    : token === ""
      ? "an empty text"
      : `a value of type ${typeof token}`;
  throw new TypeError(
    `${caller}: bearer must be a token of letters, digits and - . _ ~ + /, or a function that returns one. Received: ${received}.`,
  );
}
