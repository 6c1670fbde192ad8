export { type AppOptions, checkAppOptions } from "./app-options.ts";
export { buildManifest } from "./build-manifest.ts";
export type { Inspection } from "./inspection.ts";
export { attachInternals, inspect, internalsOf, requireInternals } from "./internals.ts";
export type { Manifest } from "./manifest.ts";
export { type CalledFunction, checkCalledFunctions, listModules } from "./modules.ts";
export { answerRequest, type RequestInfo } from "./pipeline.ts";
export { createSite, type Development, type Site, siteInDevelopment } from "./site.ts";
export { createStaticFiles } from "./static-files.ts";
