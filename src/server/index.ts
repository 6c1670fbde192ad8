export { built } from "./built.ts";
export { INSPECTION, type Inspectable, type Inspection, inspect } from "./inspection.ts";
export { type Manifest, manifestAssets } from "./manifest.ts";
export { type Called, checkCalled, type Listing, listModules, type Module } from "./modules.ts";
export { answerRequest, type RequestInfo, type Site } from "./pipeline.ts";
export { createAppRouter } from "./router.ts";
export { staticFiles } from "./static-files.ts";
