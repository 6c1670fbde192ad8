/**
 * The entry point `tsweb/vite`: the compile step, as one set of Vite plugins for the development server, the build and
 * Vitest. `tsweb/register` compiles in the same way under plain Node.
 */
export type { BuildRegistry, StubUse } from "./build-registry.ts";
export type { CompileOptions } from "./compiler.ts";
export { registryOf, tsweb } from "./plugin.ts";
export { type Compiled, compileServerModule } from "./server-code.ts";
export { CompileError, type SourceLocation } from "./syntax/index.ts";
