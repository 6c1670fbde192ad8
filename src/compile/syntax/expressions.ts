import { childrenOf, type Node } from "./walk.ts";

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
