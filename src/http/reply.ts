import type { Pushed } from "./pushed.ts";
import type { SecurityLines } from "./security.ts";

/** An answer on its way: what the pipeline makes a `Response` of. */
export interface Reply {
  readonly status: number;
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The security headers, where they are not those of the application. */
  readonly security?: SecurityLines;
  readonly body: string | ReadableStream<Uint8Array> | Pushed | null;
}

/** An answer for this visitor only, which no cache may keep. */
export const PRIVATE = { "cache-control": "private, no-store" } as const;

const JSON_HEADERS = { "content-type": "application/json", ...PRIVATE } as const;

/** Gives a JSON answer for this visitor only. */
export function jsonReply(status: number, json: string, headers?: Readonly<Record<string, string>>): Reply {
  return { status, headers: headers ? { ...JSON_HEADERS, ...headers } : JSON_HEADERS, body: json };
}

/** Gives an HTML answer for this visitor only. */
export function htmlReply(status: number, html: string, headers: Readonly<Record<string, string>> = {}): Reply {
  return { status, headers: { "content-type": "text/html; charset=utf-8", ...PRIVATE, ...headers }, body: html };
}

/** Gives a plain sentence for a request that is neither a page nor a call. */
export function textReply(status: number, text: string, headers: Readonly<Record<string, string>> = {}): Reply {
  return { status, headers: { "content-type": "text/plain; charset=utf-8", ...PRIVATE, ...headers }, body: text };
}
