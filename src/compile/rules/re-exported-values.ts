import { type ModuleFacts, type ModuleResolver, originOf } from "../modules/index.ts";
import { CompileError } from "../syntax/index.ts";
import { droppedImportedCalls, droppedMessage } from "./dropped-values.ts";

/**
 * Rejects a statement that drops the value of `redirect()`, or a new error of tsweb, where modules of the project re-export
 * them, also under another name. `checkDroppedValues` rejects it where they are imported from tsweb.
 *
 * @throws CompileError at the expression
 */
export async function checkReExportedValues(facts: ModuleFacts, resolver: ModuleResolver): Promise<void> {
  const { source, scopes } = facts;
  for (const { call, imported } of droppedImportedCalls(scopes)) {
    const message = droppedMessage(call, await originOf(imported, source.file, resolver), source);
    if (message !== undefined) throw new CompileError(message, source, call);
  }
}
