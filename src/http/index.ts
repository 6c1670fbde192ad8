export { BodyLimit, ByteCounts, type ClientBytes, formatBytes } from "./body-limit.ts";
export { clientAddress } from "./client-address.ts";
export { completeResponse } from "./complete-response.ts";
export {
  currentContext,
  rejectInQuery,
  requireClientContext,
  requireContext,
  requireSessionContext,
  runDetached,
  runInContext,
  runOutsideRequests,
  setTraceExit,
} from "./context-storage.ts";
export { ContextKey, ContextValues, PUBLISHED } from "./context-values.ts";
export {
  type BodyProducer,
  type BodySink,
  errorBody,
  type HandlerResponse,
  htmlResponse,
  isPushedBody,
  isReadableStream,
  isResponse,
  jsonResponse,
  type OutboundResponse,
  PRIVATE_NO_CACHE,
  PRIVATE_NO_STORE,
  PushedBody,
  releaseUnsentBody,
  textResponse,
  toFetchResponse,
  unreadableRequestResponse,
  varying,
} from "./handler-response.ts";
export {
  type ByteCounter,
  FetchInboundRequest,
  hasDeclaredLength,
  type InboundRequest,
  keepInMemory,
  type RequestSender,
  readRequestText,
  readUrl,
} from "./inbound-request.ts";
export { awaitMaybe, isPromise, type MaybeAsync, run } from "./maybe-async.ts";
export { forgetOnce, once } from "./once.ts";
export { publicOrigin, requireSameOrigin } from "./origin.ts";
export { parseJson } from "./parse-json.ts";
export {
  isPrefetch,
  PREFETCHED_PAGES,
  PrefetchError,
  type PrefetchedPages,
  refuseEffect,
  refusePrefetch,
} from "./prefetch.ts";
export { fillRandom, randomHex } from "./random.ts";
export {
  isSitePath,
  LINKED_SITE,
  observeRedirects,
  Redirect,
  type RedirectOptions,
  type RedirectTarget,
  redirect,
  redirectTarget,
} from "./redirect.ts";
export { MAX_COOKIE_BYTES, request } from "./request.ts";
export {
  type QueryRun,
  RequestContext,
  type RequestContextInit,
  type RequestTrace,
  type StringRecord,
} from "./request-context.ts";
export { CONNECTION_CLOSE, RequestError, UnavailableError } from "./request-error.ts";
export {
  adviseDeveloper,
  disconnectedError,
  isAbortError,
  isDisconnection,
  logExpectedError,
  logRefusal,
} from "./request-failures.ts";
export { idHeaders, type RequestIds, requestIds, traceIdOf } from "./request-ids.ts";
export {
  canonicalPath,
  formParameter,
  hasWholeParameter,
  isCallPath,
  isUnambiguousTarget,
  isValidHost,
  isValidPath,
  originOf,
  pathBelowBase,
} from "./request-url.ts";
export {
  type BuildToolAccess,
  checkSecurityOptions,
  createDataHeaders,
  createSecurityHeaders,
  parsePolicy,
  type ResponseSecurity,
  type SecurityHeaders,
  type SecurityOptions,
} from "./security-headers.ts";
export { SharedRendering } from "./shared-rendering.ts";
