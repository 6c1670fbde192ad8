import type { PushedBody } from "./pushed-body.ts";
import type { SecurityHeaders } from "./security-headers.ts";

/** An answer on its way: what the pipeline makes a `Response` of. */
export interface HandlerResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The security headers, where they are not those of the application. */
  readonly security?: SecurityHeaders;
  readonly body: string | ReadableStream<Uint8Array> | PushedBody | null;
}

/** An answer for this visitor only, which no cache may keep. */
export const PRIVATE_NO_STORE = { "cache-control": "private, no-store" } as const;

const JSON_HEADERS = { "content-type": "application/json", ...PRIVATE_NO_STORE } as const;

/** Gives a JSON answer for this visitor only. */
export function jsonResponse(
  status: number,
  json: string,
  headers?: Readonly<Record<string, string>>,
): HandlerResponse {
  return { status, headers: headers ? { ...JSON_HEADERS, ...headers } : JSON_HEADERS, body: json };
}

/** Gives an HTML answer for this visitor only. */
export function htmlResponse(
  status: number,
  html: string,
  headers: Readonly<Record<string, string>> = {},
): HandlerResponse {
  return {
    status,
    headers: { "content-type": "text/html; charset=utf-8", ...PRIVATE_NO_STORE, ...headers },
    body: html,
  };
}

/** Gives a plain sentence for a request that is neither a page nor a call. */
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
