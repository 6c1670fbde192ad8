export { hasSharedBus } from "../live/index.ts";
export { type AppOptions, checkAppOptions } from "./app-options.ts";
export type { Before, BeforeInput, BeforeResult } from "./before.ts";
export { buildManifest } from "./build-manifest.ts";
export { revalidate } from "./cached-pages.ts";
export { type Development, respondToLoadFailure, siteInDevelopment } from "./development.ts";
export {
  createStartHook,
  type ErrorDetails,
  ErrorHook,
  type ErrorKind,
  type FailedRequest,
  type LastWork,
  type OnError,
  reportOnce,
  runLastWork,
} from "./hooks.ts";
export type { RequestInfo } from "./host-info.ts";
export { type AppInternals, attachInternals, inspect, internalsOf, requireInternals } from "./internals.ts";
export type { KeptBuild, Manifest } from "./manifest.ts";
export type { Inspection } from "./modules.ts";
export { type CalledFunction, checkCalledFunctions, formatLocation, listModules } from "./modules.ts";
export type { MetricsEndpoint, MetricsResponse } from "./monitoring.ts";
export type {
  HandledRequest,
  ObservedRequest,
  ObservedResponse,
  Observer,
  RequestListener,
} from "./observe-request.ts";
export { createAccessLog } from "./observe-request.ts";
export { addressOf, handleFetch, handleRequest, logUnsent } from "./pipeline.ts";
export { type RequestTarget, requestTarget } from "./router.ts";
export { createSite, realtime, type Site } from "./site.ts";
export { createStaticFiles } from "./static-files.ts";
export { renderStaticPages, type StaticOutput, type StaticPage } from "./static-pages.ts";
