import { type ErrorCode, statusOf } from "../errors.ts";
import type { JsonObject } from "./json.ts";

/** What each code says to a caller who reads the document. */
const DESCRIPTIONS: Readonly<Record<ErrorCode, string>> = {
  validation_error: "An argument is missing, or is not what its parameter takes.",
  unauthenticated: "Nobody is signed in.",
  forbidden: "The visitor may not do this, or the call comes from another site.",
  not_found: "What is asked for does not exist.",
  conflict: "Something changed underneath the caller.",
  rate_limited: "Too many calls.",
  timeout: "The function took too long.",
  internal: "Something went wrong on the server.",
};

/** What the pipeline refuses with a status of its own. */
const REQUEST_ERRORS: Readonly<Record<string, readonly [status: number, meaning: string]>> = {
  body_too_slow: [408, "The body did not arrive in time."],
  body_too_large: [413, "The body is over 1 MiB."],
  content_type: [415, "The content type is not application/json."],
};

// Object.keys gives the keys that the type says are all.
const CODES = Object.keys(DESCRIPTIONS) as ErrorCode[];

/** Describes the body of an error. */
export const ERROR_SCHEMA: JsonObject = {
  type: "object",
  properties: {
    error: {
      type: "object",
      properties: {
        code: { type: "string", enum: CODES },
        message: { type: "string", description: "In words for a person." },
        details: { type: "object", description: "Anything else that the caller can use." },
      },
      required: ["code", "message", "details"],
    },
  },
  required: ["error"],
};

/** Describes one line of a stream. */
export const LINE_SCHEMA: JsonObject = {
  description: "One line of the body; the last is `done` or `error`.",
  oneOf: [
    {
      type: "object",
      properties: { chunk: { description: "A value of the function, as JSON." } },
      required: ["chunk"],
    },
    { type: "object", properties: { done: { const: true } }, required: ["done"] },
    { $ref: "#/components/schemas/Error" },
  ],
};

/**
 * Describes every answer that is an error, by the name under which operations refer to it.
 *
 * @param csrf whether a refusal may bring a fresh CSRF token
 */
export function errorResponses(csrf: boolean): JsonObject {
  const content = { "application/json": { schema: { $ref: "#/components/schemas/Error" } } };
  const headers: Partial<Record<string, JsonObject>> = {
    rate_limited: { "Retry-After": { description: "Seconds to wait.", schema: { type: "integer" } } },
    ...(csrf ? { forbidden: { "X-CSRF-Token": { description: "A fresh token.", schema: { type: "string" } } } } : {}),
  };
  const meanings = [
    ...CODES.map((code) => [code, `\`${code}\`: ${DESCRIPTIONS[code]}`] as const),
    ...Object.entries(REQUEST_ERRORS).map(([name, [, meaning]]) => [name, meaning] as const),
  ];
  return Object.fromEntries(
    meanings.map(([name, description]) => {
      const own = headers[name];
      return [name, { description, ...(own ? { headers: own } : {}), content }];
    }),
  );
}

/** Refers to all of them by status, as an operation does: a function may throw any code. */
export function errorReferences(): JsonObject {
  const statuses = [
    ...CODES.map((code) => [statusOf(code), code] as const),
    ...Object.entries(REQUEST_ERRORS).map(([name, [status]]) => [status, name] as const),
  ];
  return Object.fromEntries(
    statuses.map(([status, name]) => [String(status), { $ref: `#/components/responses/${name}` }]),
  );
}
