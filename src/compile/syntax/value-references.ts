import type { ESTree } from "vite";
import { childrenOf, type Node } from "./nodes.ts";
import type { Scope, Scopes } from "./scope.ts";

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

/** The nodes of TypeScript that contain expressions. All others are types. */
const TYPED_EXPRESSIONS = new Set([
  ...["TSAsExpression", "TSSatisfiesExpression", "TSNonNullExpression", "TSTypeAssertion", "TSInstantiationExpression"],
  ...["TSEnumDeclaration", "TSEnumBody", "TSEnumMember", "TSModuleDeclaration", "TSModuleBlock", "TSExportAssignment"],
  "TSParameterProperty",
]);

/** Returns the children of a node that may contain references to values. */
export function expressionsIn(node: Node): readonly Node[] {
  if (node.type.startsWith("TS") && !TYPED_EXPRESSIONS.has(node.type)) return [];
  if ("declare" in node && node.declare) return [];
  switch (node.type) {
    case "MemberExpression":
      return node.computed ? [node.object, node.property] : [node.object];
    case "Property":
    case "MethodDefinition":
    case "PropertyDefinition":
    case "AccessorProperty":
      return childrenOf(node).filter((child) => child !== node.key || node.computed);
    case "TSEnumMember":
      return node.initializer ? [node.initializer] : [];
    case "UnaryExpression":
      return node.operator === "typeof" && node.argument.type === "Identifier" ? [] : [node.argument];
    case "LabeledStatement":
      return [node.body];
    case "ImportDeclaration":
    case "ExportSpecifier":
    case "BreakStatement":
    case "ContinueStatement":
    case "MetaProperty":
      return [];
    default:
      return childrenOf(node);
  }
}
