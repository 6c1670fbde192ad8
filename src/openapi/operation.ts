import { type ErrorCode, statusOf } from "../errors.ts";
import {
  ARGUMENTS_FIELD,
  CSRF_HEADER,
  FORM_TYPE,
  JSON_TYPE,
  NDJSON_TYPE,
  type Parameter,
  takesFiles,
} from "../protocol/index.ts";
import type { FunctionDefinition } from "../rpc/index.ts";
import { type JsonObject, nullableSchema, type SchemaRegistry, shapeSchema, standardJsonSchema } from "./schemas.ts";

/** The parts of an application that its operations depend on. */
export interface OperationContext {
  readonly strict: boolean;
  /** Whether functions with `auth_required` require a CSRF token. */
  readonly csrf: boolean;
  /** Whether functions accept bearer tokens. */
  readonly bearer: boolean;
  readonly registry: SchemaRegistry;
}

/** Returns the operation of a server function. */
export function operation(definition: FunctionDefinition, context: OperationContext): JsonObject {
  const { signature, options } = definition;
  const { documentation = {} } = signature;
  const { summary, description, deprecated } = documentation;
  const text = description ?? `Server function \`${callForm(definition)}\` of \`${signature.file}\`.`;
  return {
    operationId: operationId(signature.name),
    summary: summary ?? titleOf(signature.name),
    description: deprecated ? `${text}\n\nDeprecated: ${deprecated}` : text,
    tags: [tagOf(signature.file)],
    ...(deprecated === undefined ? {} : { deprecated: true }),
    requestBody: { required: true, content: requestContent(definition, context) },
    responses: { "200": successResponse(definition, context), ...errorReferences() },
    security: options.auth_required ? signInRequirements(context) : [],
  };
}

/** Returns the ways in which a client can be signed in: one of them is needed. */
function signInRequirements({ csrf, bearer }: OperationContext): readonly JsonObject[] {
  return [{ session: [], ...(csrf ? { csrf: [] } : {}) }, ...(bearer ? [{ bearer: [] }] : [])];
}

/**
 * Returns the id of an operation: the name of the function, which is unique in an application. Ids are used in URLs, so
 * other characters than ASCII letters are encoded as in URLs, with `~` in place of `%`.
 */
function operationId(name: string): string {
  return encodeURIComponent(name).replaceAll("%", "~");
}

/** Returns the tag of a function: the path of its module, `accounts` for `src/accounts.server.ts`. */
export function tagOf(file: string): string {
  return file.replace(/^src\//, "").replace(/\.server\.\w+$/, "");
}

/** Returns the name of a function as words: `Send code` for `send_code` and `sendCode`. */
function titleOf(name: string): string {
  const words = name
    .replace(/[_$]+/g, " ")
    .replace(/(?<=[\p{Ll}\d])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu, " ")
    .replace(/(?<=\s)\p{Lu}(?=\p{Ll})/gu, (letter) => letter.toLowerCase())
    .trim();
  return words === "" ? name : words.charAt(0).toUpperCase() + words.slice(1);
}

function callForm({ signature: { name, params, keyed } }: FunctionDefinition): string {
  const list = params.map((parameter) => {
    const optional = parameter.optional ? "?" : "";
    return `${parameter.name}${optional}${parameter.annotation === "" ? "" : `: ${parameter.annotation}`}`;
  });
  return keyed ? `${name}({ ${list.join(", ")} })` : `${name}(${list.join(", ")})`;
}

/** Returns the body of a call: JSON, or a form with the other arguments in one field and each file in its own. */
function requestContent(definition: FunctionDefinition, context: OperationContext): JsonObject {
  const schema = bodySchema(definition, context);
  if (!takesFiles(definition.signature)) return { [JSON_TYPE]: { schema } };
  const { params } = definition.signature;
  const file = { type: "string", format: "binary" };
  const files = params.filter((parameter) => parameter.files);
  const required = files.filter(({ optional, nullable }) => !optional && !nullable).map(({ name }) => name);
  const form: JsonObject = {
    type: "object",
    properties: {
      [ARGUMENTS_FIELD]: argumentsSchema(definition, context),
      ...Object.fromEntries(
        files.map(({ name, files: count }) => [name, count === "many" ? { type: "array", items: file } : file]),
      ),
    },
    required: [ARGUMENTS_FIELD, ...required],
  };
  return { [FORM_TYPE]: { schema: form, encoding: { [ARGUMENTS_FIELD]: { contentType: JSON_TYPE } } } };
}

/**
 * Returns the schema of a call's body. It describes the recommended types only: `"42"` is also accepted for an `int`,
 * because HTML forms send strings, but is not in the schema.
 */
function bodySchema(definition: FunctionDefinition, context: OperationContext): JsonObject {
  return { type: "object", properties: { args: argumentsSchema(definition, context) }, required: ["args"] };
}

/** Returns the schema of the arguments that are not files. */
function argumentsSchema(definition: FunctionDefinition, context: OperationContext): JsonObject {
  const params = definition.signature.params.filter(({ files }) => !files);
  const required = params.filter((parameter) => !parameter.optional).map((parameter) => parameter.name);
  return {
    type: "object",
    properties: Object.fromEntries(
      params.map((parameter) => [parameter.name, parameterSchema(parameter, definition, context)]),
    ),
    ...(required.length > 0 ? { required } : {}),
    additionalProperties: false,
  };
}

/** Returns the schema of what is checked of a parameter: by `validate`, by a strict application, or by its coercion. */
function parameterSchema(
  parameter: Parameter,
  { signature, options: { validate = {} } }: FunctionDefinition,
  { strict, registry }: OperationContext,
): JsonObject {
  const { name, type, shape, nullable, literals, annotation } = parameter;
  const schemas = { registry, shapes: signature.shapes ?? [] };
  const isValidated = Object.hasOwn(validate, name);
  const coerced = () =>
    type === "any"
      ? {}
      : shapeSchema({ kinds: [type], ...(literals ? { literals } : {}), ...(nullable ? { nullable } : {}) }, schemas);
  const schema = isValidated
    ? (standardJsonSchema(validate[name], "input", { name: `${signature.name}.${name}`, registry }) ?? coerced())
    : strict && shape
      ? shapeSchema(shape, schemas)
      : coerced();
  const text = signature.documentation?.params?.[name];
  // An annotation that no schema describes is shown, also with a text.
  const isDescribed = text !== undefined && (annotation === "" || Object.keys(schema).length > 0);
  const description = isDescribed ? text : [text, annotation && `\`${annotation}\``].filter(Boolean).join("\n\n");
  return description === "" ? schema : { ...schema, description };
}

/** Returns the response with a function's result, or with the lines of its stream. */
function successResponse(definition: FunctionDefinition, { csrf, registry }: OperationContext): JsonObject {
  const { name, stream, documentation } = definition.signature;
  const description = documentation?.returns;
  const schema = resultSchema(definition, registry);
  const headers = csrf ? { headers: { [CSRF_HEADER]: { $ref: "#/components/headers/csrf_token" } } } : {};
  if (!stream) {
    const body = { type: "object", properties: { result: schema }, required: ["result"] };
    return {
      description: description ?? "The result of the function.",
      ...headers,
      content: { [JSON_TYPE]: { schema: body } },
    };
  }
  const line = registry.refer(`${name}.Line`, `line of ${name}`, () => lineSchema(schema));
  const lines = {
    type: "string",
    description: "One line of JSON for each value, as it is yielded. The last line is `done` or `error`.",
    contentMediaType: NDJSON_TYPE,
    contentSchema: line,
  };
  return {
    description: description ?? "The values of the stream.",
    ...headers,
    content: { [NDJSON_TYPE]: { schema: lines } },
  };
}

/** Returns the schema of a result, or of a stream's values: that of `returns`, or else of the annotation. */
function resultSchema({ signature, options }: FunctionDefinition, registry: SchemaRegistry): JsonObject {
  const { name, documentation: { result, resultShapes = [] } = {} } = signature;
  return (
    standardJsonSchema(options.returns, "output", { name: `${name}.result`, registry }) ??
    (result ? nullableSchema(result, { registry, shapes: resultShapes }) : {})
  );
}

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
function lineSchema(value: JsonObject): JsonObject {
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
function errorReferences(): JsonObject {
  return Object.fromEntries(
    ERRORS.map(({ status, name }) => [String(status), { $ref: `#/components/responses/${name}` }]),
  );
}
