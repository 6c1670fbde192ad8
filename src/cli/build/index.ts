export { build } from "./build.ts";
export { packageOptionsProblem } from "./package-options.ts";
export type { RenderReport } from "./static-pages.ts";
