export {
  type ErrorDetails,
  ErrorHook,
  type ErrorKind,
  type FailedRequest,
  type OnError,
  reportOnce,
} from "./error-hook.ts";
export { handleMetrics, Metrics, type MetricsEndpoint, type MetricsResponse } from "./metrics.ts";
export { relayMetrics } from "./metrics-relay.ts";
export {
  createAccessLog,
  type HandledRequest,
  type ObservedRequest,
  type ObservedResponse,
  observeRequest,
  type RequestListener,
  RequestListeners,
  type RequestTarget,
} from "./observe-request.ts";
export { Tracing } from "./tracing.ts";
