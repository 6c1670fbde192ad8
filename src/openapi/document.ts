import { RPC_PREFIX } from "../protocol/index.ts";
import type { FunctionDefinition } from "../rpc/index.ts";
import type { Inspection } from "../server/index.ts";
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

/**
 * Describes the server functions of an application: each as a POST below `/__web/rpc/`, with the
 * body it takes, what it answers and the errors it may answer instead.
 *
 * Of results nothing is said but that they are JSON: what a function returns is in its types, and
 * those are gone when it runs.
 *
 * @param version of the application; OpenAPI asks for one
 */
export function openapi(app: Inspection, version = "0.0.0"): Document {
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

function operation(definition: FunctionDefinition, index: number, { csrf, strict }: Inspection): JsonObject {
  const { signature, options } = definition;
  const schema = bodySchema(definition, { strict, nameOf: recursiveTypeName(index) });
  const asksForToken = csrf && options.auth_required === true;
  return {
    operationId: signature.name,
    tags: [tagOf(signature.file)],
    ...(asksForToken ? { parameters: [{ $ref: "#/components/parameters/csrf_token" }] } : {}),
    requestBody: { required: true, content: { "application/json": { schema } } },
    responses: { "200": signature.stream ? STREAM : RESULT, ...errorReferences() },
    ...(options.auth_required ? { security: [{ session: [] }] } : {}),
  };
}

/** Groups functions by the module they are in: `src/accounts.server.ts` is `accounts`. */
function tagOf(file: string): string {
  return file.replace(/^.*\//, "").replace(/\.server\.\w+$/, "");
}

const RESULT: JsonObject = {
  description: "What the function returned.",
  content: {
    "application/json": {
      schema: { type: "object", properties: { result: { description: "As JSON." } }, required: ["result"] },
    },
  },
};

const STREAM: JsonObject = {
  description: "What the function yields, one line of JSON each, as it is yielded.",
  content: { "application/x-ndjson": { schema: { $ref: "#/components/schemas/Line" } } },
};

/** Names the types of a function that are made of themselves; a function's own name need not do for that. */
function recursiveTypeName(index: number): (ref: number) => string {
  return (ref) => `Type${index + 1}_${ref + 1}`;
}

/** Describes the types that are made of themselves, which schemas refer to. */
function recursiveSchemas({ functions, strict }: Inspection): JsonObject {
  if (!strict) return {};
  const schemas = functions.flatMap(({ signature: { shapes = [] } }, index) => {
    const nameOf = recursiveTypeName(index);
    return shapes.map((shape, ref) => [nameOf(ref), shapeSchema(shape, { strict, nameOf })] as const);
  });
  return Object.fromEntries(schemas);
}

function components(app: Inspection): JsonObject {
  const { functions, sessionCookie, csrf } = app;
  const hasStreams = functions.some(({ signature }) => signature.stream);
  return {
    schemas: { Error: ERROR_SCHEMA, ...(hasStreams ? { Line: LINE_SCHEMA } : {}), ...recursiveSchemas(app) },
    responses: errorResponses(csrf),
    ...(csrf ? { parameters: { csrf_token: CSRF_TOKEN } } : {}),
    securitySchemes: {
      session: { type: "apiKey", in: "cookie", name: sessionCookie, description: "Set when a visitor signs in." },
    },
  };
}

const CSRF_TOKEN: JsonObject = {
  name: "X-CSRF-Token",
  in: "header",
  required: true,
  description: 'From a page\'s `<meta name="csrf-token">`, or the header of the same name of an earlier answer.',
  schema: { type: "string" },
};
