import type { ModuleFacts } from "./module-facts.ts";
import { type ModuleResolver, originOf } from "./module-resolver.ts";
import { CompileError } from "./syntax/index.ts";
import { droppedImportedCalls, isRedirect, unusedMessage } from "./unused-redirects.ts";

/**
 * Rejects a statement that drops the value of `redirect()` where modules of the project re-export it, also under another
 * name. `checkUnusedRedirects` rejects it where it is imported from `tsweb`.
 *
 * @throws CompileError at the call
 */
export async function checkReExportedRedirects(facts: ModuleFacts, resolver: ModuleResolver): Promise<void> {
  const { program, source, scopes } = facts;
  for (const { call, imported } of droppedImportedCalls(program, scopes)) {
    if (isRedirect(await originOf(imported, source.file, resolver)))
      throw new CompileError(unusedMessage(call, source), source, call);
  }
}
