import type { ModuleFacts } from "./module-facts.ts";
import { checkForeignConventions, checkForeignImports, type PackageResolver } from "./other-frameworks.ts";
import { checkServerGlobals, type DefinedGlobals } from "./server-globals.ts";

/**
 * Rejects what does not work where a module runs: globals of Node in browser code, and what only other frameworks have.
 *
 * @param options.isBrowserCode whether browsers load the module
 * @throws CompileError at the code
 */
export async function checkEnvironment(
  facts: ModuleFacts,
  resolver: PackageResolver,
  { isBrowserCode, defined }: { readonly isBrowserCode: boolean; readonly defined?: DefinedGlobals | undefined },
): Promise<void> {
  checkForeignConventions(facts, isBrowserCode);
  await checkForeignImports(facts, resolver, isBrowserCode);
  if (isBrowserCode) checkServerGlobals(facts, defined);
}
