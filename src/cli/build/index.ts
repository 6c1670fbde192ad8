export { build } from "./build.ts";
export { packageOptionsProblem } from "./package-options.ts";
