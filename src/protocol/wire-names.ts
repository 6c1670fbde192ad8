/**
 * What requests and responses carry by name: paths below the application's base, headers in lower case, content types, and the
 * ids of builds. Used by the server, the tools, the browser and the client. The paths of forms and of live updates are apart,
 * because only pages that need them load those files; except what live-poll.ts uses, which would divide the script of its page.
 */

/** The path of a server function is this prefix, followed by its percent-encoded name. @see docs/protocol.md 3.1 */
export const RPC_PREFIX = "/__web/rpc/";

/** The path at which a page requests the tag of the client's sign-in. @see docs/protocol.md 7.10 */
export const SESSION_PATH = "/__web/session";

/** The path of the poll, below the application's base. @see docs/protocol.md 10.6 */
export const POLL_PATH = "/__web/poll";

/** The maximum number of feeds of a GET request for live updates, whose URL contains them. @see docs/protocol.md 10.4 */
export const MAX_QUERY_FEEDS = 32;

/** The path of the OpenAPI document, which only the development server serves. @see docs/protocol.md 12.3 */
export const OPENAPI_PATH = "/__web/openapi.json";

/**
 * Carries the build of the page and the hash of the function in a call, and the build of the server in the response to a call
 * that it refuses because of them. @see docs/protocol.md 3.9
 */
export const BUILD_HEADER = "x-build";

/** Carries the CSRF token, in a call and in a response with a fresh token. @see docs/protocol.md 8.4 */
export const CSRF_HEADER = "x-csrf-token";

/** Carries the key of a call of an idempotent function. @see docs/protocol.md 15.8 */
export const IDEMPOTENCY_HEADER = "idempotency-key";

/** Carries the URL that the browser opens after a call. @see docs/protocol.md 3.5 */
export const REDIRECT_HEADER = "x-redirect";

/** Carries the id of a request, in the request and in its response. @see docs/protocol.md 2.3 */
export const REQUEST_ID_HEADER = "x-request-id";

/** Carries the trace context, in the request and in its response. @see docs/protocol.md 2.4 */
export const TRACEPARENT_HEADER = "traceparent";

/** The type of calls, of their results and of errors. @see docs/protocol.md 3.1 */
export const JSON_TYPE = "application/json";

/** The type of a stream: one JSON object a line. @see docs/protocol.md 6.1 */
export const NDJSON_TYPE = "application/x-ndjson";

/** The id of a build, as a page carries it with a live request. @see docs/protocol.md 3.9 */
export const BUILD_ID = /^[0-9a-z]{13}$/;

/** What a page carries with a call, or a form in its address: the id of its build, and the hash of the function. */
export const BUILD_VERSION = /^([0-9a-z]{13})\.([\w-]{6})$/;

/** Which side is of an older build when a call cannot be handled: the page that has sent it, or the server. */
export type StaleSide = "page" | "server";
