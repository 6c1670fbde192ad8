import { CSRF_META, JSON_TYPE, NDJSON_TYPE, RPC_PREFIX } from "../protocol/index.ts";
import type { FunctionDefinition } from "../rpc/index.ts";
import type { JsonObject } from "./json.ts";
import { ERROR_SCHEMA, errorReferences, errorResponses, LINE_SCHEMA } from "./responses.ts";
import { bodySchema, shapeSchema } from "./schemas.ts";

/** An OpenAPI document. @see OpenAPI Specification 3.1 */
export interface Document {
  readonly openapi: "3.1.0";
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: JsonObject;
  readonly components: JsonObject;
}

/** The parts of an application that its OpenAPI document describes. */
export interface DescribedApp {
  readonly title: string;
  /** The path below which it is served: empty, or `/shop`. */
  readonly base: string;
  readonly strict: boolean;
  readonly functions: readonly FunctionDefinition[];
  /** The name of the session cookie. */
  readonly sessionCookie: string;
  /** Whether functions with `auth_required` require a CSRF token. */
  readonly csrf: boolean;
}

/**
 * Returns the OpenAPI document of an application's server functions. Each is a POST operation with its request body,
 * its response and its error responses.
 *
 * Results are described as JSON without a schema, because the types of results do not exist at run time.
 *
 * @param version the application's version; OpenAPI requires one
 * @see docs/protocol.md 12.3
 */
export function openapi(app: DescribedApp, version = "0.0.0"): Document {
  const operations = app.functions.map((definition, index): [string, JsonObject] => [
    `${app.base}${RPC_PREFIX}${encodeURIComponent(definition.signature.name)}`,
    { post: operation(definition, index, app) },
  ]);
  return {
    openapi: "3.1.0",
    info: { title: app.title || "Server functions", version },
    paths: Object.fromEntries(operations),
    components: components(app),
  };
}

function operation(definition: FunctionDefinition, index: number, { csrf, strict }: DescribedApp): JsonObject {
  const { signature, options } = definition;
  const schema = bodySchema(definition, { strict, nameOf: recursiveTypeName(index) });
  const requiresToken = csrf && options.auth_required === true;
  return {
    operationId: signature.name,
    tags: [tagOf(signature.file)],
    ...(requiresToken ? { parameters: [{ $ref: "#/components/parameters/csrf_token" }] } : {}),
    requestBody: { required: true, content: { [JSON_TYPE]: { schema } } },
    responses: { "200": signature.stream ? STREAM : RESULT, ...errorReferences() },
    ...(options.auth_required ? { security: [{ session: [] }] } : {}),
  };
}

/** Returns the tag of a function: the name of its module, `accounts` for `src/accounts.server.ts`. */
function tagOf(file: string): string {
  return file.replace(/^.*\//, "").replace(/\.server\.\w+$/, "");
}

const RESULT: JsonObject = {
  description: "The result of the function.",
  content: {
    [JSON_TYPE]: {
      schema: { type: "object", properties: { result: { description: "Any JSON value." } }, required: ["result"] },
    },
  },
};

const STREAM: JsonObject = {
  description: "The values that the function yields, each as one line of JSON.",
  content: { [NDJSON_TYPE]: { schema: { $ref: "#/components/schemas/Line" } } },
};

/** Returns the schema names of a function's recursive types. The function's own name may have characters that are not allowed there. */
function recursiveTypeName(index: number): (ref: number) => string {
  return (ref) => `Type${index + 1}_${ref + 1}`;
}

/** Returns the schemas of recursive types, which other schemas refer to. */
function recursiveSchemas({ functions, strict }: DescribedApp): JsonObject {
  if (!strict) return {};
  const schemas = functions.flatMap(({ signature: { shapes = [] } }, index) => {
    const nameOf = recursiveTypeName(index);
    return shapes.map((shape, ref) => [nameOf(ref), shapeSchema(shape, { strict, nameOf })] as const);
  });
  return Object.fromEntries(schemas);
}

function components(app: DescribedApp): JsonObject {
  const { functions, sessionCookie, csrf } = app;
  const hasStreams = functions.some(({ signature }) => signature.stream);
  return {
    schemas: { Error: ERROR_SCHEMA, ...(hasStreams ? { Line: LINE_SCHEMA } : {}), ...recursiveSchemas(app) },
    responses: errorResponses(csrf),
    ...(csrf ? { parameters: { csrf_token: CSRF_TOKEN } } : {}),
    securitySchemes: {
      session: { type: "apiKey", in: "cookie", name: sessionCookie, description: "Set when a user signs in." },
    },
  };
}

const CSRF_TOKEN: JsonObject = {
  name: "X-CSRF-Token",
  in: "header",
  required: true,
  description: `The content of a page's \`<meta name="${CSRF_META}">\`, or the same header of an earlier response.`,
  schema: { type: "string" },
};
