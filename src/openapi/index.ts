import { CSRF_HEADER, CSRF_META, FORM_PREFIX, RPC_PREFIX, takesFiles } from "../protocol/index.ts";
import type { FunctionDefinition } from "../rpc/index.ts";
import { ERROR_SCHEMA, errorResponses, operation, tagOf } from "./operation.ts";
import { type JsonObject, SchemaRegistry } from "./schemas.ts";

/** An OpenAPI document. @see OpenAPI Specification 3.1 */
export interface Document {
  readonly openapi: "3.1.0";
  readonly info: JsonObject;
  readonly servers: readonly JsonObject[];
  readonly tags: readonly JsonObject[];
  readonly paths: JsonObject;
  readonly components: JsonObject;
}

/** The parts of an application that its OpenAPI document describes. */
interface DescribedApp {
  readonly title: string;
  /** The path below which it is served: empty, or `/shop`. */
  readonly base: string;
  /** The origins of `WEB_ORIGIN`. */
  readonly origins: readonly string[];
  readonly strict: boolean;
  readonly functions: readonly FunctionDefinition[];
  /** The name of the session cookie. */
  readonly sessionCookie: string;
  /** Whether functions with `auth_required` require a CSRF token. */
  readonly csrf: boolean;
  /** Whether functions accept bearer tokens. */
  readonly bearer: boolean;
}

/** The data in the package.json of a project that its document contains. */
export interface ProjectInfo {
  readonly version?: string | undefined;
  readonly description?: string | undefined;
  /** An SPDX expression, `UNLICENSED`, or `SEE LICENSE IN …`. */
  readonly license?: string | undefined;
  readonly author?: { readonly name?: string; readonly email?: string; readonly url?: string } | undefined;
}

/**
 * Returns the OpenAPI document of an application's server functions. Each is a POST operation with its request body,
 * its response and its error responses. Pages and raw routes are not part of it.
 *
 * @see docs/protocol.md 12.3
 */
export function openapi(app: DescribedApp, project: ProjectInfo = {}): Document {
  const { functions, origins, base, strict, csrf, bearer } = app;
  const hasFunctions = functions.length > 0;
  const registry = new SchemaRegistry(hasFunctions ? { Error: ERROR_SCHEMA } : {});
  const paths = functions.map((definition): [string, JsonObject] => [
    `${base}${takesFiles(definition.signature) ? FORM_PREFIX : RPC_PREFIX}${encodeURIComponent(definition.signature.name)}`,
    { post: operation(definition, { strict, csrf, bearer, registry }) },
  ]);
  const modules = [...new Set(functions.map(({ signature }) => signature.file))];
  return {
    openapi: "3.1.0",
    info: infoOf(app, project),
    servers: origins.length > 0 ? origins.map((url) => ({ url })) : [{ url: "/" }],
    tags: modules.map((file) => ({ name: tagOf(file), description: `The server functions of \`${file}\`.` })),
    paths: Object.fromEntries(paths),
    components: { ...(hasFunctions ? components(app) : {}), schemas: registry.schemas() },
  };
}

function infoOf({ title }: DescribedApp, { version = "0.0.0", description, license, author }: ProjectInfo): JsonObject {
  const name = title || "Server functions";
  // Only an SPDX expression is an identifier.
  const isSpdx = license !== undefined && license !== "UNLICENSED" && !license.startsWith("SEE LICENSE");
  return {
    title: name,
    version,
    description: description ?? `The server functions of ${title || "the application"}.`,
    ...(author ? { contact: { ...author } } : {}),
    ...(license === undefined ? {} : { license: { name: license, ...(isSpdx ? { identifier: license } : {}) } }),
  };
}

function components({ functions, sessionCookie, csrf, bearer }: DescribedApp): JsonObject {
  const requiresSignIn = functions.some(({ options }) => options.auth_required);
  const session = { type: "apiKey", in: "cookie", name: sessionCookie, description: "Set when a user signs in." };
  const source = `The content of a page's \`<meta name="${CSRF_META}">\`, or the same header of an earlier response.`;
  const token = { type: "apiKey", in: "header", name: CSRF_HEADER, description: source };
  const schemes = {
    ...(requiresSignIn ? { session, ...(csrf ? { csrf: token } : {}) } : {}),
    ...(bearer ? { bearer: BEARER } : {}),
  };
  return {
    responses: errorResponses(csrf),
    ...(csrf ? { headers: { csrf_token: CSRF_TOKEN } } : {}),
    ...(Object.keys(schemes).length > 0 ? { securitySchemes: schemes } : {}),
  };
}

const BEARER: JsonObject = {
  type: "http",
  scheme: "bearer",
  description:
    "A token of the application, such as an API key. With it, no session cookie and no CSRF token is needed.",
};

const CSRF_TOKEN: JsonObject = {
  description: "A fresh CSRF token, when the sign-in has changed or the token of the request was not valid.",
  schema: { type: "string" },
};
