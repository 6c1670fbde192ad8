import type { ESTree } from "vite";
import { type Node, walk } from "../syntax/index.ts";
import { numberTypeOf, qualifiedNumberType, type ScopedType, type TypeContext } from "./type-context.ts";

/**
 * Returns whether a type contains `int`, `float`, `number` or `boolean` anywhere, the aliases and
 * interfaces of this module included.
 */
export function containsCheckedType(type: ScopedType, context: TypeContext, visited: Set<Node> = new Set()): boolean {
  let contains = false;
  walk(type.node, (node) => {
    if (contains) return false;
    if (node.type === "TSNumberKeyword" || node.type === "TSBooleanKeyword") contains = true;
    if (node.type !== "TSTypeReference" || node.typeName.type === "ThisExpression") return true;
    contains ||= referenceContainsCheckedType(node, type, context, visited);
    return true;
  });
  return contains;
}

function referenceContainsCheckedType(
  node: ESTree.TSTypeReference,
  type: ScopedType,
  context: TypeContext,
  visited: Set<Node>,
): boolean {
  const name = node.typeName;
  if (name.type === "TSQualifiedName") return qualifiedNumberType(name, type.scope) !== undefined;
  if (name.type !== "Identifier") return false;
  const binding = type.scope.findType(name.name);
  if (binding?.imported) return numberTypeOf(binding.imported.source, binding.imported.name) !== undefined;
  return (binding?.declarations ?? []).some((declaration) => {
    if (visited.has(declaration)) return false;
    visited.add(declaration);
    const argument = declaration.type === "TSTypeParameter" ? type.typeArguments?.get(declaration) : undefined;
    if (argument) return containsCheckedType(argument, context, visited);
    const scope = context.scopes.byNode.get(declaration) ?? type.scope;
    return containsCheckedType({ node: declaration, scope }, context, visited);
  });
}
