import type { Inspection } from "../inspection.ts";
import type { Definition } from "../rpc/index.ts";
import type { JsonObject } from "./json.ts";
import { ERROR_SCHEMA, errorReferences, errorResponses, LINE_SCHEMA } from "./responses.ts";
import { bodySchema } from "./schemas.ts";

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
  const operations = app.functions.map((definition): [string, JsonObject] => [
    `${app.base}/__web/rpc/${encodeURIComponent(definition.signature.name)}`,
    { post: operation(definition, app) },
  ]);
  return {
    openapi: "3.1.0",
    info: { title: app.title || "Server functions", version },
    paths: Object.fromEntries(operations),
    components: components(app),
  };
}

function operation({ signature, options }: Definition, { csrf }: Inspection): JsonObject {
  const asksForToken = csrf && options.auth_required === true;
  return {
    operationId: signature.name,
    tags: [tagOf(signature.file)],
    ...(asksForToken ? { parameters: [{ $ref: "#/components/parameters/csrf_token" }] } : {}),
    requestBody: { required: true, content: { "application/json": { schema: bodySchema(signature) } } },
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

function components({ functions, sessionCookie, csrf }: Inspection): JsonObject {
  const hasStreams = functions.some(({ signature }) => signature.stream);
  return {
    schemas: { Error: ERROR_SCHEMA, ...(hasStreams ? { Line: LINE_SCHEMA } : {}) },
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
