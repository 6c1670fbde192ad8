import type { ESTree } from "vite";
import { expressionsIn } from "./expressions.ts";
import type { Scope, Scopes } from "./scope.ts";
import type { Node } from "./walk.ts";

/** A use of a global name, as in `process.env`: an identifier that the module declares nowhere, or with `declare`. */
export interface GlobalReference {
  readonly node: ESTree.IdentifierReference;
  readonly scope: Scope;
  /** The nodes that contain it, the innermost first. */
  readonly ancestors: readonly Node[];
  /** Whether the module has a `declare const` for the name. */
  readonly isDeclared: boolean;
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
  const ambient = ambientVariables(program);
  const visit = (node: Node, outer: Scope, ancestors: readonly Node[]) => {
    const scope = scopes.byNode.get(node) ?? outer;
    if (node.type === "Identifier" && names.has(node.name)) {
      const declarations = scope.findValue(node.name)?.declarations ?? [];
      if (declarations.every((declaration) => ambient.has(declaration))) {
        const isDeclared = declarations.length > 0;
        // A name that nothing in the module declares is a reference.
        found.push({ node: node as ESTree.IdentifierReference, scope, ancestors, isDeclared });
      }
    }
    const path = [node, ...ancestors];
    for (const child of expressionsIn(node)) visit(child, scope, path);
  };
  visit(program, scopes.module, []);
  return found;
}

/** Returns the declarators of the module's statements such as `declare const process: Process`. They have no value. */
function ambientVariables(program: ESTree.Program): ReadonlySet<Node> {
  return new Set(
    program.body.flatMap((statement) =>
      statement.type === "VariableDeclaration" && statement.declare ? statement.declarations : [],
    ),
  );
}
