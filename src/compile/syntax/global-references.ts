import type { ESTree } from "vite";
import { expressionsIn } from "./expressions.ts";
import type { Scope, Scopes } from "./scope.ts";
import type { Node } from "./walk.ts";

/** A use of a global name, as in `process.env`: an identifier that the module declares nowhere. */
export interface GlobalReference {
  readonly node: ESTree.IdentifierReference;
  readonly scope: Scope;
  /** The nodes that contain it, the innermost first. */
  readonly ancestors: readonly Node[];
}

/**
 * Returns the uses of global names in expressions. Types, `declare` statements, property names, labels and the operand of
 * `typeof`, which does not fail for a missing name, are not included.
 */
export function findGlobalReferences(
  program: ESTree.Program,
  scopes: Scopes,
  names: ReadonlySet<string>,
): GlobalReference[] {
  const found: GlobalReference[] = [];
  const visit = (node: Node, outer: Scope, ancestors: readonly Node[]) => {
    const scope = scopes.byNode.get(node) ?? outer;
    if (node.type === "Identifier" && names.has(node.name) && !scope.findValue(node.name))
      found.push({ node: node as ESTree.IdentifierReference, scope, ancestors }); // a name that nothing declares
    const path = [node, ...ancestors];
    for (const child of expressionsIn(node)) visit(child, scope, path);
  };
  visit(program, scopes.module, []);
  return found;
}
