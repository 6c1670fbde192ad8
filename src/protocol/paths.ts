/** The path of a server function, below the application's base: this prefix, then the function's name. */
export const RPC_PREFIX = "/__web/rpc/";

/** The path of the OpenAPI document, which only the development server serves. */
export const OPENAPI_PATH = "/__web/openapi.json";
