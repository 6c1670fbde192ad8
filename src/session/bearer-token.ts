import { createHash } from "node:crypto";
import { RequestError } from "../http/index.ts";
import { BEARER_TOKEN } from "../protocol/index.ts";

/** The maximum length of a bearer token, in characters. */
const MAX_TOKEN_CHARS = 8 * 1024;

/** The scheme and the spaces behind it. @see RFC 9110, section 11.4 */
const SCHEME = /^bearer +/i;

/** What names the scheme, also behind a comma: hosts join a repeated header with commas. */
const NAMES_BEARER = /(?:^|,)\s*bearer(?:[\s,]|$)/i;

/**
 * Returns whether a header `Authorization` is one for `authenticate`. Other schemes have no effect.
 *
 * When unsure, it returns `true`, and {@link readBearerToken} refuses the header: a proxy may have read another one of two than
 * this server.
 */
export function namesBearer(authorization: string): boolean {
  return NAMES_BEARER.test(authorization);
}

/**
 * Returns the token of a header `Authorization`.
 *
 * @throws RequestError 400 if it is not exactly one token of at most 8,192 characters. The token is not in the message.
 */
export function readBearerToken(authorization: string): string {
  const isLong = authorization.length > MAX_TOKEN_CHARS + "bearer ".length;
  const token = isLong ? "" : authorization.replace(SCHEME, "");
  if (token !== authorization && BEARER_TOKEN.test(token)) return token;
  const problem = isLong
    ? `a token of more than ${MAX_TOKEN_CHARS} characters`
    : "no token, a malformed one, or more than one";
  throw new RequestError(
    "validation_error",
    `The header Authorization has ${problem}. Send "Authorization: Bearer <token>" once, with letters, digits and - . _ ~ + / in the token.`,
    { status: 400, headers: { "www-authenticate": 'Bearer error="invalid_request"' } },
  );
}

/**
 * Returns the SHA-256 of a token as base64url: 43 characters. A token has so much randomness that nobody finds another one with the
 * same hash, or the token of a hash.
 */
export function hashToken(token: string): string {
  return createHash("sha256").update(token).digest("base64url");
}

/** The maximum depth of causes that are searched. A cause may refer back to its error. */
const MAX_DEPTH = 8;

/**
 * Returns an error without a token in its texts, for the log: libraries put values into messages. An error that does not
 * contain the token is returned as it is. Never throws: in place of an error that cannot be read, it returns another one.
 */
export function withoutToken(error: unknown, token: string): unknown {
  try {
    return replaceToken(error, token);
  } catch {
    return new Error("An error was thrown that cannot be read: one of its fields throws.");
  }
}

function replaceToken(error: unknown, token: string): unknown {
  if (!contains(error, token, 0)) return error;
  if (typeof error === "string") return error.replaceAll(token, REPLACEMENT);
  const { message = "", stack } = error instanceof Error ? error : {};
  const safe = new Error(message.replaceAll(token, REPLACEMENT));
  if (stack !== undefined) safe.stack = stack.replaceAll(token, REPLACEMENT);
  return safe;
}

const REPLACEMENT = "[token]";

function contains(error: unknown, token: string, depth: number): boolean {
  if (typeof error === "string") return error.includes(token);
  if (!(error instanceof Error) || depth > MAX_DEPTH) return false;
  const fields: unknown[] = Object.values(error);
  const nested = error instanceof AggregateError ? [error.cause, ...error.errors] : [error.cause];
  return (
    [error.message, error.stack, ...fields].some((text) => typeof text === "string" && text.includes(token)) ||
    nested.some((cause) => contains(cause, token, depth + 1))
  );
}
