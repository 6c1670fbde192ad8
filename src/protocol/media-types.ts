/**
 * Values of `Content-Type`. Used by the server, the OpenAPI document, the client and the browser.
 */

/** The type of calls, of their results and of errors. @see docs/protocol.md 3.1 */
export const JSON_TYPE = "application/json";

/** The type of a stream: one JSON object a line. @see docs/protocol.md 6.1 */
export const NDJSON_TYPE = "application/x-ndjson";
