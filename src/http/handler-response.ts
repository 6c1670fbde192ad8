import type { ErrorCode } from "../errors.ts";
import { JSON_TYPE } from "../protocol/index.ts";
import type { PushedBody } from "./pushed-body.ts";
import type { SecurityHeaders } from "./security-headers.ts";

/** The response of the handler of a page, a call, a file or live updates. `completeResponse` adds the common headers. */
export interface HandlerResponse {
  readonly status: number;
  /** The headers. Names are in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The security headers, if they differ from those of the application. */
  readonly security?: SecurityHeaders;
  readonly body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | PushedBody | null;
}

/** The header of a response for this client only, which no cache may store. @see docs/protocol.md 2.6 */
export const PRIVATE_NO_STORE = { "cache-control": "private, no-store" } as const;

/** The headers of a JSON response without further ones. */
const JSON_HEADERS = { "content-type": JSON_TYPE, ...PRIVATE_NO_STORE } as const;

/** The headers of an HTML response without further ones. */
const HTML_HEADERS = { "content-type": "text/html; charset=utf-8", ...PRIVATE_NO_STORE } as const;

/** The headers of an HTML response that is compressed for clients that accept it, without further ones. */
const COMPRESSIBLE_HTML_HEADERS = { ...HTML_HEADERS, vary: "Accept-Encoding" } as const;

/**
 * Returns whether the headers of a response are one of the objects that many responses share, so that what is made of them can
 * be kept.
 */
export function areSharedHeaders(headers: HandlerResponse["headers"]): headers is Readonly<Record<string, string>> {
  return headers === JSON_HEADERS || headers === HTML_HEADERS || headers === COMPRESSIBLE_HTML_HEADERS;
}

/** Returns headers of a response with a `Vary` header. */
export function varying(headers: HandlerResponse["headers"], vary: string): Readonly<Record<string, string>> {
  const isShared = headers === HTML_HEADERS && vary === COMPRESSIBLE_HTML_HEADERS.vary;
  return isShared ? COMPRESSIBLE_HTML_HEADERS : { ...headers, vary };
}

/** Returns the error body of a request that is refused before a function or a route is known. @see docs/protocol.md 5.2 */
export function errorBody(code: ErrorCode, message: string): string {
  return JSON.stringify({ error: { code, message, details: {} } });
}

/** Returns a JSON response that no cache may store. */
export function jsonResponse(
  status: number,
  json: string,
  headers?: Readonly<Record<string, string>>,
): HandlerResponse {
  return { status, headers: headers ? { ...JSON_HEADERS, ...headers } : JSON_HEADERS, body: json };
}

/** Returns an HTML response that no cache may store. */
export function htmlResponse(
  status: number,
  html: string,
  headers?: Readonly<Record<string, string>>,
): HandlerResponse {
  return { status, headers: headers ? { ...HTML_HEADERS, ...headers } : HTML_HEADERS, body: html };
}

/** Returns a plain text response that no cache may store, for a request that is neither a page nor a call. */
export function textResponse(
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): HandlerResponse {
  return {
    status,
    headers: { "content-type": "text/plain; charset=utf-8", ...PRIVATE_NO_STORE, ...headers },
    body: text,
  };
}
