/**
 * Paths of the framework, below the application's base. Used by the server, the tools, the browser, the client and the
 * OpenAPI document.
 */

/** The path of a server function is this prefix, followed by its percent-encoded name. @see docs/protocol.md 3.1 */
export const RPC_PREFIX = "/__web/rpc/";

/** The path of the OpenAPI document, which only the development server serves. @see docs/protocol.md 12.3 */
export const OPENAPI_PATH = "/__web/openapi.json";
