/** What every answer must be, whatever was asked. */
import { statusOf } from "../../src/errors.ts";
import { type OddRequest, SOUND } from "./requests.ts";

/** An answer as it is judged: of a stream that has no end, the beginning. */
export interface OddAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Whether all of the body was read. */
  readonly whole: boolean;
}

const CODES: ReadonlySet<string> = new Set([
  "validation_error",
  "unauthenticated",
  "forbidden",
  "not_found",
  "conflict",
  "rate_limited",
  "timeout",
  "internal",
]);

/** The statuses of a refused call that are not its code's own. */
const REFUSED: Readonly<Record<number, string>> = {
  400: "validation_error",
  405: "validation_error",
  408: "validation_error",
  413: "validation_error",
  415: "validation_error",
};

/**
 * Judges an answer.
 *
 * @returns what is wrong with it; `null` when nothing is
 */
export function faultOf(request: OddRequest, answer: OddAnswer): string | null {
  const { status, headers, text } = answer;
  if (!/^[A-Za-z0-9._-]{1,128}$/.test(headers.get("x-request-id") ?? "")) return "no usable X-Request-Id";
  if (!/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/.test(headers.get("traceparent") ?? "")) return "no usable traceparent";
  if (headers.get("x-content-type-options") !== "nosniff") return "no security headers";
  if (/the secret reason|\.(ts|mjs):\d+:\d+|node_modules/.test(text)) return "it tells what only the log should";
  if (!request.path.startsWith("/__web/rpc/") || status === 400) return pageFault(request, answer);
  return status === 200 ? resultFault(answer) : refusalFault(request, answer);
}

function pageFault({ path, breaks }: OddRequest, { status }: OddAnswer): string | null {
  if (breaks && status === 500) return null; // a route reads its body itself, and may fail with it
  const wanted = [200, 201, 206, 303, 304, 308, 400, 401, 403, 404, 405, 413, 416];
  return wanted.includes(status) ? null : `${path} answered ${status}`;
}

function refusalFault(request: OddRequest, { status, headers, text }: OddAnswer): string | null {
  if (headers.get("content-type") !== "application/json") return `an error of the type ${headers.get("content-type")}`;
  if (request.method === "HEAD") return status === 405 ? null : `HEAD answered ${status}`;
  const body = JSON.parse(text);
  const error = body.error ?? {};
  const shape = `${Object.keys(body)} ${Object.keys(error)} ${typeof error.message} ${Object.prototype.toString.call(error.details)}`;
  if (shape !== "error code,message,details string [object Object]") return `an error of the shape ${shape}`;
  if (!CODES.has(error.code)) return `the code ${error.code}`;
  if ((REFUSED[status] ?? error.code) !== error.code) return `the code ${error.code} with ${status}`;
  if (REFUSED[status] === undefined && statusOf(error.code) !== status) return `the code ${error.code} with ${status}`;
  const isSound = SOUND.some((name) => new RegExp(`^/__web/rpc/${name}(\\?|$)`).test(request.path));
  return status === 500 && isSound ? "a sound function failed" : null;
}

function resultFault({ headers, text, whole }: OddAnswer): string | null {
  if (headers.get("content-type") === "application/json") {
    return Object.keys(JSON.parse(text)).join() === "result" ? null : "a result of another shape";
  }
  if (headers.get("content-type") !== "application/x-ndjson")
    return `a result of the type ${headers.get("content-type")}`;
  const lines = text
    .split("\n")
    .slice(0, -1)
    .map((line) => Object.keys(JSON.parse(line)).join());
  const last = lines.at(-1);
  if (whole && last !== "done" && last !== "error") return `a stream whose last line is ${last}`;
  return lines.slice(0, -1).every((line) => line === "chunk") ? null : "a stream with other lines before its last";
}
