export { build } from "./build.ts";
export { packageOptionsProblem } from "./package-options.ts";
export type { LoadReport } from "./static-pages.ts";
