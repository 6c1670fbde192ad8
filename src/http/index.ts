export { clientAddress } from "./client-address.ts";
export { completeResponse, type OutboundResponse, toFetchResponse, toNativeResponse } from "./complete-response.ts";
export {
  type HandlerResponse,
  htmlResponse,
  jsonResponse,
  PRIVATE_NO_STORE,
  textResponse,
} from "./handler-response.ts";
export { requestId, traceParent } from "./ids.ts";
export { FetchInboundRequest, type InboundRequest } from "./inbound-request.ts";
export { withLimitedBody } from "./limited-body.ts";
export { awaitMaybe, isPromise, type MaybeAsync, run } from "./maybe-async.ts";
export { isSameOrigin, originOf, siteOriginsFor } from "./origin.ts";
export { type BodyProducer, type BodySink, isPushedBody, PushedBody } from "./pushed-body.ts";
export { request } from "./request.ts";
export { BODY_TIMEOUT_SECONDS, BodyUsedError, checkDeclaredLength, readBody } from "./request-body.ts";
export {
  RequestContext,
  requireContext,
  runInContext,
  runOutsideRequests,
  type StringRecord,
} from "./request-context.ts";
export { CONNECTION_CLOSE, RequestError } from "./request-error.ts";
export { isUnambiguousTarget, isValidPath, pathBelowBase } from "./request-path.ts";
export {
  checkSecurityOptions,
  createSecurityHeaders,
  type SecurityHeaders,
  type SecurityOptions,
} from "./security-headers.ts";
