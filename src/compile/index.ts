/**
 * `tsweb/vite`: the compile step. One plugin for the development server, the build and Vitest;
 * `tsweb/register` does the same for plain Node.
 */
export { CompileError, type Place } from "./errors.ts";
export { type CompileOptions, registryOf, tsweb } from "./plugin.ts";
export type { Registry, StubUse } from "./registry.ts";
export { type Compiled, compileServerModule } from "./server-side.ts";
