/** Finds the types whose values are coerced, `int`, `float`, `number` and `boolean`, inside types that cannot be read. */
import type { ESTree } from "vite";
import type { TypeShape } from "../../protocol/index.ts";
import { CompileError, findNode, type ImportedName, type Node, type Scope } from "../syntax/index.ts";
import { uncheckedShape } from "./operations.ts";
import { sourceText, type TypeContext, type TypeNode } from "./type-context.ts";

/** Returns which of tsweb's number types an imported name is; `undefined` for any other import. */
export function numberTypeOf({ source, name }: ImportedName): "int" | "float" | undefined {
  return source === "tsweb" && (name === "int" || name === "float") ? name : undefined;
}

/** Returns the import that `namespace.name` refers to; `undefined` for any other name. */
export function namespaceMember(name: ESTree.TSTypeName, scope: Scope): ImportedName | undefined {
  if (name.type !== "TSQualifiedName" || name.left.type !== "Identifier") return undefined;
  const namespace = scope.findType(name.left.name)?.imported;
  return namespace?.name === "*" ? { source: namespace.source, name: name.right.name } : undefined;
}

/**
 * Returns the shape of a type that is computed from others: it is unchecked.
 *
 * @throws CompileError when it is read for coercion and contains a checked type, because values would then pass without the
 *   check
 */
export function computedShape(type: TypeNode, { use }: TypeContext): TypeShape {
  if (use === "coercion" && containsCheckedType(type)) {
    throw new CompileError(
      "This type is computed, so the compile step cannot determine whether it is int, float, number or boolean. Write the resulting type here.",
      type.module.source,
      type.node,
    );
  }
  return uncheckedShape(sourceText(type));
}

/**
 * Returns whether a type contains `int`, `float`, `number` or `boolean` anywhere, the aliases and
 * interfaces of its module included.
 */
export function containsCheckedType(type: TypeNode, visited: Set<Node> = new Set()): boolean {
  const isChecked = (node: Node) =>
    node.type === "TSNumberKeyword" ||
    node.type === "TSBooleanKeyword" ||
    (node.type === "TSTypeReference" && referenceContainsCheckedType(node.typeName, type, visited)) ||
    (node.type === "TSInterfaceHeritage" &&
      node.expression.type === "Identifier" &&
      referenceContainsCheckedType(node.expression, type, visited));
  return findNode(type.node, isChecked) !== undefined;
}

function referenceContainsCheckedType(name: ESTree.TSTypeName, type: TypeNode, visited: Set<Node>): boolean {
  const binding = name.type === "Identifier" ? type.scope.findType(name.name) : undefined;
  const imported = binding ? binding.imported : namespaceMember(name, type.scope);
  if (imported) return numberTypeOf(imported) !== undefined;
  return (binding?.declarations ?? []).some((declaration) => {
    if (visited.has(declaration)) return false;
    visited.add(declaration);
    const argument = declaration.type === "TSTypeParameter" ? type.typeArguments?.get(declaration) : undefined;
    const scope = type.module.scopes.byNode.get(declaration) ?? type.scope;
    return containsCheckedType(argument ?? { node: declaration, scope, module: type.module }, visited);
  });
}
