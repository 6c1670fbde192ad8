export { createAccessLog } from "./access-log.ts";
export { type AppOptions, checkAppOptions } from "./app-options.ts";
export type { Before, BeforeInput, BeforeResult } from "./before.ts";
export { buildManifest } from "./build-manifest.ts";
export {
  type ErrorDetails,
  ErrorHook,
  type ErrorKind,
  type FailedRequest,
  type OnError,
  reportOnce,
} from "./error-hook.ts";
export { handleFetch } from "./handle-fetch.ts";
export type { RequestInfo } from "./host-info.ts";
export type { Inspection } from "./inspection.ts";
export { type AppInternals, attachInternals, inspect, internalsOf, requireInternals } from "./internals.ts";
export { respondToLoadFailure } from "./load-failure.ts";
export type { KeptBuild, Manifest } from "./manifest.ts";
export type { MetricsResponse } from "./metrics-endpoint.ts";
export { type CalledFunction, checkCalledFunctions, formatLocation, listModules } from "./modules.ts";
export type { HandledRequest, ObservedRequest, ObservedResponse, RequestListener } from "./observe-request.ts";
export type { Observer } from "./observer.ts";
export { addressOf, handleRequest, logUnsent } from "./pipeline.ts";
export { hasSharedBus, realtime } from "./realtime.ts";
export { type RequestTarget, requestTarget } from "./request-target.ts";
export { createSite, type Site, siteInDevelopment } from "./site.ts";
export { createStartHook } from "./start-hook.ts";
export { createStaticFiles } from "./static-files.ts";
export { runLastWork } from "./stop-hook.ts";
