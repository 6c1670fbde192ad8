import { checkImportedNames } from "./imported-names.ts";
import { checkInteractiveComponents } from "./interactive-components.ts";
import { checkMarkup } from "./jsx-checks.ts";
import { checkPropNames } from "./misspelled-props.ts";
import type { ModuleFacts } from "./module-facts.ts";
import type { ModuleResolver } from "./module-resolver.ts";
import { checkReExportedValues } from "./re-exported-values.ts";
import { checkRenderEffects } from "./render-effects.ts";
import { checkReturnedStreams } from "./returned-streams.ts";
import { checkStubMembers } from "./stub-members.ts";
import { CompileError } from "./syntax/index.ts";
import { checkViewCalls } from "./view-calls.ts";
import { checkViewProps } from "./view-props.ts";

/**
 * Makes the checks of a module for the server that follow its imports and need no bundler: those that Vite and Node share.
 *
 * @throws CompileError when the module breaks a rule
 */
export async function checkServerModule(facts: ModuleFacts, resolver: ModuleResolver): Promise<void> {
  checkNoThen(facts);
  await checkImportedNames(facts, resolver);
  await checkViewProps(facts, resolver); // before checkMarkup, which says less about a function as a prop
  await checkPropNames(facts, resolver);
  await checkViewCalls(facts, resolver);
  await checkStubMembers(facts, resolver); // before checkMarkup, which says less about `{list.useQuery().data}`
  await checkMarkup(facts, resolver);
  await checkRenderEffects(facts, resolver);
  await checkInteractiveComponents(facts, resolver);
  await checkReturnedStreams(facts, resolver);
  await checkReExportedValues(facts, resolver);
}

/** A module with an export `then` is a thenable: `await import(…)` calls that, and waits for it forever. */
function checkNoThen({ exports, source }: ModuleFacts): void {
  const entry = exports.named.find(({ name, isType }) => name === "then" && !isType);
  if (!entry) return;
  throw new CompileError(
    "A module cannot export `then`: `import()` would call it as that of a promise, and wait forever. Export it under another name.",
    source,
    entry.at,
  );
}
