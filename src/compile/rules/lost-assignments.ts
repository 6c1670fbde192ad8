import { findComponents, type ModuleFacts } from "../modules/index.ts";
import type { Node } from "../syntax/index.ts";
import { checkLostState } from "./lost-state.ts";
import { checkLostVariables } from "./lost-variables.ts";
import { findHandlers, readUses } from "./variable-uses.ts";

/**
 * Rejects assignments of event handlers that a component never shows: to a copy of a state, to the variable of a state, and
 * to a variable of its body.
 *
 * @throws CompileError at the assignment
 */
export function checkLostAssignments(module: ModuleFacts): void {
  const { source } = module;
  const { code } = source;
  if (module.isServerModule) return;
  if (!/\b(?:let|var)\b/.test(code) || !/\bon(?:[A-Z]|_mount\b)/.test(code)) return;
  const uses = readUses(module.program, module.scopes);
  if (uses.variables.length === 0) return;
  const running = findHandlers(uses);
  checkLostState(uses, running, source);
  const components = new Set<Node>(findComponents(module).map(({ fn }) => fn));
  checkLostVariables(uses, { running, components, source });
}
