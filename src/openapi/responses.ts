import { type ErrorCode, statusOf } from "../errors.ts";
import { CSRF_HEADER, JSON_TYPE } from "../protocol/index.ts";
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

/** Errors of the request itself, with the code `validation_error`, whose status differs from that of their code. */
const REQUEST_ERRORS: Readonly<Record<string, readonly [status: number, meaning: string]>> = {
  body_incomplete: [400, "The connection ended before the body had arrived."],
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
        details: { type: "object", additionalProperties: true, description: "Further data for the caller." },
      },
      required: ["code", "message", "details"],
    },
  },
  required: ["error"],
};

/**
 * Returns the schema of one line of a stream.
 *
 * @param value the schema of the values that the function yields
 * @see docs/protocol.md 6.2
 */
export function lineSchema(value: JsonObject): JsonObject {
  return {
    description: "One line of the body; the last is `done` or `error`.",
    oneOf: [
      { type: "object", properties: { chunk: value }, required: ["chunk"] },
      { type: "object", properties: { done: { const: true } }, required: ["done"] },
      { $ref: "#/components/schemas/Error" },
    ],
  };
}

interface ErrorResponse {
  /** The name under which operations refer to it. */
  readonly name: string;
  readonly status: number;
  readonly code: ErrorCode;
  readonly meaning: string;
}

/** Every error response of a call: a function may throw any code. */
const ERRORS: readonly ErrorResponse[] = [
  ...CODES.map((code) => ({ name: code, status: statusOf(code), code, meaning: DESCRIPTIONS[code] })),
  ...Object.entries(REQUEST_ERRORS).map(([name, [status, meaning]]) => ({
    name,
    status,
    code: "validation_error" as const,
    meaning,
  })),
];

/**
 * Returns all error responses, by the name under which operations refer to them.
 *
 * @param csrf whether a 403 response may carry a fresh CSRF token
 */
export function errorResponses(csrf: boolean): JsonObject {
  const headers: Readonly<Record<string, JsonObject>> = {
    rate_limited: { "retry-after": { description: "Seconds to wait.", schema: { type: "integer" } } },
    ...(csrf ? { forbidden: { [CSRF_HEADER]: { $ref: "#/components/headers/csrf_token" } } } : {}),
  };
  const responses = ERRORS.map(({ name, code, meaning }): [string, JsonObject] => {
    const schema = { $ref: "#/components/schemas/Error" };
    const example = { error: { code, message: meaning, details: {} } };
    return [
      name,
      {
        description: `\`${code}\`: ${meaning}`,
        ...(headers[name] ? { headers: headers[name] } : {}),
        content: { [JSON_TYPE]: { schema, example } },
      },
    ];
  });
  return Object.fromEntries(responses);
}

/** Returns references to all error responses, by status. */
export function errorReferences(): JsonObject {
  return Object.fromEntries(
    ERRORS.map(({ status, name }) => [String(status), { $ref: `#/components/responses/${name}` }]),
  );
}
