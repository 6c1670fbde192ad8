import type { DevEnvironment } from "vite";
import type { ModuleFacts } from "./module-facts.ts";
import { checkNodeImports } from "./node-imports.ts";
import { checkForeignConventions, checkForeignImports, type PackageResolver } from "./other-frameworks.ts";
import { checkSecretLiterals } from "./secret-literals.ts";
import { checkServerGlobals, type DefinedGlobals } from "./server-globals.ts";

/** Where a module runs. */
export interface EnvironmentOptions {
  /** Whether browsers load the module. */
  readonly isBrowserCode: boolean;
  readonly defined?: DefinedGlobals | undefined;
  /** The environment of browser code in development, for a module that is compiled for the server. */
  readonly client?: DevEnvironment | undefined;
}

/**
 * Rejects what does not work where a module runs: globals and modules of Node and secrets in browser code, and what only other
 * frameworks have.
 *
 * @throws CompileError at the code
 */
export async function checkEnvironment(
  facts: ModuleFacts,
  resolver: PackageResolver,
  { isBrowserCode, defined, client }: EnvironmentOptions,
): Promise<void> {
  checkForeignConventions(facts, isBrowserCode);
  await checkForeignImports(facts, resolver, isBrowserCode);
  if (isBrowserCode) checkServerGlobals(facts, defined);
  if (isBrowserCode) checkSecretLiterals(facts);
  if (isBrowserCode && client) await checkNodeImports(facts, client);
}
