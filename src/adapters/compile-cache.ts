// `tsweb build` copies this file beside the built application, so it imports nothing but Node's own modules.
import module from "node:module";
import { fileURLToPath } from "node:url";

/** The function of Node 22.8 and later, which the types of Node 20 do not have. */
interface NewerModule {
  enableCompileCache?(folder: string): unknown;
}

/**
 * Makes Node store the code that it compiles in a folder when the process exits, so that the next start need not compile it
 * again. Has no effect where the folder cannot be written, on Node 20, and with `NODE_DISABLE_COMPILE_CACHE=1`.
 *
 * The folder must be one that only those can write who can write the code itself: what it contains is executed.
 */
export function storeCompiledCode(folder: URL): void {
  const { versions } = process;
  if ("bun" in versions || "deno" in versions) return;
  (module as NewerModule).enableCompileCache?.(fileURLToPath(folder));
}
