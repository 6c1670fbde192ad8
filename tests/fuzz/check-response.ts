/** The rules that every response must follow, whatever the request was. */
import { type ErrorCode, statusOf } from "../../src/errors.ts";
import { RELIABLE_FUNCTIONS } from "./functions.ts";
import type { FuzzRequest } from "./fuzz-request.ts";

/** A response. Of a long stream, only the beginning. */
export interface FuzzResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Whether the whole body was read. */
  readonly isComplete: boolean;
}

/** @see docs/protocol.md 5.3 */
const CODES = {
  validation_error: true,
  unauthenticated: true,
  forbidden: true,
  not_found: true,
  conflict: true,
  rate_limited: true,
  timeout: true,
  internal: true,
} satisfies Record<ErrorCode, true>;

/** The code of each status that belongs to a check before the function runs. @see docs/protocol.md 3.2 */
const CODE_OF_REJECTION: Readonly<Record<number, string>> = {
  400: "validation_error",
  405: "validation_error",
  408: "validation_error",
  413: "validation_error",
  415: "validation_error",
};

/** Returns what is wrong with a response, or `null`. */
export function checkResponse(request: FuzzRequest, response: FuzzResponse): string | null {
  const { status, headers, text } = response;
  if (!/^[A-Za-z0-9._-]{1,128}$/.test(headers.get("x-request-id") ?? "")) return "X-Request-Id is missing or invalid";
  if (!/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/.test(headers.get("traceparent") ?? "")) {
    return "traceparent is missing or invalid";
  }
  if (headers.get("x-content-type-options") !== "nosniff") return "the security headers are missing";
  if (containsInternals(text)) return "the response contains details that belong in the log only";
  if (/[?&]__form/.test(request.path)) return checkPageForm(request, response);
  if (!/^\/__web\/(rpc|form)\//.test(request.path) || status === 400) return checkPage(request, response);
  return status === 200 ? checkResult(response) : checkError(request, response);
}

/** Returns whether a text contains the message of an unexpected error, a position in the source, or a path. */
export function containsInternals(text: string): boolean {
  return /the secret reason|\.(ts|mjs):\d+:\d+|node_modules/.test(text);
}

function checkPage({ path, disconnects }: FuzzRequest, { status }: FuzzResponse): string | null {
  if (disconnects && status === 500) return null; // A route reads its body itself, and may throw if the body is incomplete.
  const allowed = [200, 201, 206, 303, 304, 308, 400, 401, 403, 404, 405, 413, 416];
  return allowed.includes(status) ? null : `unexpected status ${status} for ${path}`;
}

/** The statuses of a form that is sent to a page: also those of calls, since the page is shown again. */
const STATUSES_OF_FORMS = [409, 415, 422, 429, 500, 504];

function checkPageForm(request: FuzzRequest, response: FuzzResponse): string | null {
  const { status, headers, text } = response;
  const type = headers.get("content-type") ?? "";
  if (type === "application/json" && text.startsWith('{"error"'))
    return "the response to a browser has the body of a call";
  if ("polluted" in {}) return "a field has changed Object.prototype";
  // The first parameter counts, and the function is named before the colon.
  const [name = ""] = new URLSearchParams(request.path.split("?")[1]).get("__form")?.split(":") ?? [];
  const isReliable = RELIABLE_FUNCTIONS.some((reliable) => reliable === name);
  if (status === 500 && isReliable) return "a function failed that never throws";
  return STATUSES_OF_FORMS.includes(status) ? null : checkPage(request, response);
}

function checkError(request: FuzzRequest, { status, headers, text }: FuzzResponse): string | null {
  if (headers.get("content-type") !== "application/json") {
    return `unexpected content type of an error: ${headers.get("content-type")}`;
  }
  // 401 and 403: a bearer token is checked before the method. @see docs/protocol.md 7.9
  if (request.method === "HEAD")
    return [401, 403, 405].includes(status) ? null : `unexpected status ${status} for HEAD`;
  const body = JSON.parse(text);
  const error = body.error ?? {};
  const shape = `${Object.keys(body)} ${Object.keys(error)} ${typeof error.message} ${Object.prototype.toString.call(error.details)}`;
  if (shape !== "error code,message,details string [object Object]") return `unexpected shape of an error: ${shape}`;
  if (!Object.hasOwn(CODES, error.code)) return `unknown code ${error.code}`;
  const codeOfRejection = CODE_OF_REJECTION[status];
  const isMatch = codeOfRejection === undefined ? statusOf(error.code) === status : codeOfRejection === error.code;
  if (!isMatch) return `code ${error.code} with status ${status}`;
  const isReliable = RELIABLE_FUNCTIONS.some((name) =>
    new RegExp(`^/__web/(rpc|form)/${name}(\\?|$)`).test(request.path),
  );
  return status === 500 && isReliable ? "a function failed that never throws" : null;
}

function checkResult({ headers, text, isComplete }: FuzzResponse): string | null {
  if (headers.get("content-type") === "application/json") {
    return Object.keys(JSON.parse(text)).join() === "result" ? null : "unexpected shape of a result";
  }
  if (headers.get("content-type") !== "application/x-ndjson") {
    return `unexpected content type of a result: ${headers.get("content-type")}`;
  }
  const lines = text
    .split("\n")
    .slice(0, -1)
    .map((line) => Object.keys(JSON.parse(line)).join());
  const last = lines.at(-1);
  if (isComplete && last !== "done" && last !== "error") return `unexpected last line of a stream: ${last}`;
  return lines.slice(0, -1).every((line) => line === "chunk")
    ? null
    : "a stream has done or error before its last line";
}
