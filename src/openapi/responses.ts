import { type ErrorCode, statusOf } from "../errors.ts";
import { JSON_TYPE } from "../protocol/index.ts";
import type { JsonObject } from "./json.ts";

/** The description of each error code. */
const DESCRIPTIONS: Readonly<Record<ErrorCode, string>> = {
  validation_error: "An argument is missing or invalid.",
  unauthenticated: "The client is not signed in.",
  forbidden: "The user is not allowed to do this, or the call comes from another site.",
  not_found: "The requested item does not exist.",
  conflict: "The request conflicts with the current state.",
  rate_limited: "Too many calls.",
  timeout: "The function exceeded its time limit.",
  internal: "Something went wrong on the server.",
};

/** Errors of the request itself, whose status differs from that of their code. */
const REQUEST_ERRORS: Readonly<Record<string, readonly [status: number, meaning: string]>> = {
  body_too_slow: [408, "The body did not arrive in time."],
  body_too_large: [413, "The body is larger than 1 MiB."],
  content_type: [415, `The content type is not ${JSON_TYPE}.`],
};

const CODES = Object.keys(DESCRIPTIONS) as ErrorCode[]; // Object.keys returns string[]; these are the keys of the record

/** The schema of an error body. @see docs/protocol.md 5.2 */
export const ERROR_SCHEMA: JsonObject = {
  type: "object",
  properties: {
    error: {
      type: "object",
      properties: {
        code: { type: "string", enum: CODES },
        message: { type: "string", description: "A sentence for people." },
        details: { type: "object", description: "Further data for the caller." },
      },
      required: ["code", "message", "details"],
    },
  },
  required: ["error"],
};

/** The schema of one line of a stream. @see docs/protocol.md 6.2 */
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
 * Returns all error responses, by the name under which operations refer to them.
 *
 * @param csrf whether a 403 response may carry a fresh CSRF token
 */
export function errorResponses(csrf: boolean): JsonObject {
  const content = { [JSON_TYPE]: { schema: { $ref: "#/components/schemas/Error" } } };
  const headers: Partial<Record<string, JsonObject>> = {
    rate_limited: { "Retry-After": { description: "Seconds to wait.", schema: { type: "integer" } } },
    ...(csrf ? { forbidden: { "X-CSRF-Token": { description: "A fresh token.", schema: { type: "string" } } } } : {}),
  };
  const descriptions = [
    ...CODES.map((code) => [code, `\`${code}\`: ${DESCRIPTIONS[code]}`] as const),
    ...Object.entries(REQUEST_ERRORS).map(([name, [, meaning]]) => [name, meaning] as const),
  ];
  return Object.fromEntries(
    descriptions.map(([name, description]) => {
      const extra = headers[name];
      return [name, { description, ...(extra ? { headers: extra } : {}), content }];
    }),
  );
}

/** Returns references to all error responses, by status: a function may throw any code. */
export function errorReferences(): JsonObject {
  const statuses = [
    ...CODES.map((code) => [statusOf(code), code] as const),
    ...Object.entries(REQUEST_ERRORS).map(([name, [status]]) => [status, name] as const),
  ];
  return Object.fromEntries(
    statuses.map(([status, name]) => [String(status), { $ref: `#/components/responses/${name}` }]),
  );
}
