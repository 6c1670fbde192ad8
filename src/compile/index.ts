/** The compile step for the CLI. The public entry point `tsweb/vite` is `vite.ts`. */
export type { BuildRegistry, StubUse } from "./build-registry.ts";
export { compileStep } from "./plugin.ts";
export { isServerModule } from "./syntax/index.ts";
