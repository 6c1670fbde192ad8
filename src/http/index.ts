export { clientAddress } from "./client-address.ts";
export { completeResponse } from "./complete-response.ts";
export { currentContext, requireContext, runInContext, runOutsideRequests } from "./context-storage.ts";
export { MAX_COOKIE_BYTES, sessionCookieName } from "./cookies.ts";
export {
  type HandlerResponse,
  htmlResponse,
  jsonResponse,
  PRIVATE_NO_STORE,
  textResponse,
} from "./handler-response.ts";
export { FetchInboundRequest, type InboundRequest } from "./inbound-request.ts";
export { withLimitedBody } from "./limited-body.ts";
export { awaitMaybe, isPromise, type MaybeAsync, run } from "./maybe-async.ts";
export { isSameOrigin, siteOriginsFor } from "./origin.ts";
export { type OutboundResponse, toFetchResponse } from "./outbound-response.ts";
export { type BodyProducer, type BodySink, isPushedBody, PushedBody } from "./pushed-body.ts";
export { randomHex } from "./random-hex.ts";
export { request } from "./request.ts";
export { BODY_TIMEOUT_SECONDS, BodyUsedError, checkDeclaredLength, readBody } from "./request-body.ts";
export { RequestContext, type StringRecord } from "./request-context.ts";
export { CONNECTION_CLOSE, RequestError } from "./request-error.ts";
export { requestId } from "./request-id.ts";
export { isUnambiguousTarget, isValidPath, pathBelowBase } from "./request-path.ts";
export { readRequestText } from "./request-text.ts";
export {
  createSecurityHeaders,
  type SecurityHeaders,
  type SecurityOptions,
} from "./security-headers.ts";
export { checkSecurityOptions } from "./security-options.ts";
export { traceParent } from "./trace-parent.ts";
export { originOf } from "./url-origin.ts";
