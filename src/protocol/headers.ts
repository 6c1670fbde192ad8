/**
 * Names of headers, in lower case. Used by the server, the adapters, the browser and the client.
 */

/**
 * Carries the build of the page and the hash of the function in a call, and the build of the server in the response to a call
 * that it refuses because of them. @see docs/protocol.md 3.9
 */
export const BUILD_HEADER = "x-build";

/** Carries the CSRF token, in a call and in a response with a fresh token. @see docs/protocol.md 8.4 */
export const CSRF_HEADER = "x-csrf-token";

/** Carries the URL that the browser opens after a call. @see docs/protocol.md 3.5 */
export const REDIRECT_HEADER = "x-redirect";

/** Carries the id of a request, in the request and in its response. @see docs/protocol.md 2.3 */
export const REQUEST_ID_HEADER = "x-request-id";

/** Carries the trace context, in the request and in its response. @see docs/protocol.md 2.4 */
export const TRACEPARENT_HEADER = "traceparent";
