import type { ESTree } from "vite";
import type { Binding, Node } from "../syntax/index.ts";
import { bindTypeArguments, resolveDeclaration, type ScopedType, type TypeContext } from "./type-context.ts";

/** One property of an object type. */
export interface Member {
  /** Absent when the property has no type annotation. */
  readonly type?: ScopedType;
  readonly optional: boolean;
}

/** The properties of an object type, by name. */
export type Members = ReadonlyMap<string, Member>;

/**
 * Returns the properties of an object type: a type literal, an interface or alias of this module, their
 * intersection, and `Readonly`, `Partial`, `Required`, `Pick` or `Omit` of these.
 *
 * @returns `undefined` for a type that cannot be read, such as one that another module declares
 */
export function membersOf(type: ScopedType, context: TypeContext): Members | undefined {
  const { node } = type;
  switch (node.type) {
    case "TSParenthesizedType":
      return membersOf({ ...type, node: node.typeAnnotation }, context);
    case "TSTypeLiteral":
      return propertyMembers(node.members, type);
    case "TSIntersectionType": {
      const parts = node.types.map((part) => membersOf({ ...type, node: part }, context));
      return parts.every((part) => part === undefined) ? undefined : mergeMembers(parts);
    }
    case "TSTypeReference": {
      if (node.typeName.type !== "Identifier") return undefined;
      const { name } = node.typeName;
      const binding = type.scope.findType(name);
      return binding ? referencedMembers(binding, type, node, context) : utilityTypeMembers(name, type, node, context);
    }
    default:
      return undefined;
  }
}

function referencedMembers(
  binding: Binding,
  from: ScopedType,
  reference: { typeArguments: ESTree.TSTypeParameterInstantiation | null } & Node,
  context: TypeContext,
): Members | undefined {
  const inner = { ...context, resolving: [...context.resolving, ...binding.declarations] };
  if (binding.declarations[0]?.type !== "TSInterfaceDeclaration") {
    const target = resolveDeclaration(binding, from, reference, context);
    return target && membersOf(target, inner);
  }
  // TypeScript reports an interface that extends itself. This only avoids an endless loop.
  if (binding.declarations.some((node) => context.resolving.includes(node))) return undefined;
  const parts = binding.declarations.flatMap((declaration) => {
    if (declaration.type !== "TSInterfaceDeclaration") return [];
    const scope = context.scopes.byNode.get(declaration) ?? binding.scope;
    const typeArguments = bindTypeArguments(declaration.typeParameters, scope, from, reference);
    const self: ScopedType = { node: declaration, scope, typeArguments };
    const inherited = declaration.extends.map((heritage) => {
      const parent = heritage.expression.type === "Identifier" ? scope.findType(heritage.expression.name) : undefined;
      return parent && referencedMembers(parent, self, heritage, inner);
    });
    return [...inherited, propertyMembers(declaration.body.body, self)];
  });
  return mergeMembers(parts);
}

function utilityTypeMembers(
  name: string,
  type: ScopedType,
  node: ESTree.TSTypeReference,
  context: TypeContext,
): Members | undefined {
  const argument = node.typeArguments?.params[0];
  if (!argument || !["Readonly", "Partial", "Required", "Pick", "Omit", "NoInfer"].includes(name)) return undefined;
  const members = membersOf({ ...type, node: argument }, context);
  if (!members || (name !== "Partial" && name !== "Required")) return members;
  return new Map([...members].map(([key, member]) => [key, { ...member, optional: name === "Partial" }]));
}

function propertyMembers(signatures: readonly Node[], type: ScopedType): Members {
  const members = new Map<string, Member>();
  for (const signature of signatures) {
    if (signature.type !== "TSPropertySignature") continue;
    const key = propertyKey(signature.key, signature.computed);
    if (key === undefined) continue;
    const annotation = signature.typeAnnotation?.typeAnnotation;
    members.set(key, { optional: signature.optional, ...(annotation ? { type: { ...type, node: annotation } } : {}) });
  }
  return members;
}

/** Returns the name of a property key; `undefined` when it is computed. */
export function propertyKey(key: Node, computed: boolean): string | undefined {
  if (key.type === "Identifier") return computed ? undefined : key.name;
  return key.type === "Literal" && key.value !== null ? String(key.value) : undefined;
}

function mergeMembers(parts: readonly (Members | undefined)[]): Members {
  return new Map(parts.flatMap((part) => (part ? [...part] : [])));
}
