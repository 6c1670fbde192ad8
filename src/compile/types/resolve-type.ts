import type { ESTree } from "vite";
import type { Coercion } from "../../protocol/index.ts";
import { type Binding, CompileError, type Node, type Scope, type Scopes, type SourceFile } from "../syntax/index.ts";

/** A type node, and the scope in which its names are looked up. */
export interface ScopedType {
  readonly node: Node;
  readonly scope: Scope;
  /** The type arguments, by the type parameter that each is bound to. */
  readonly typeArguments?: ReadonlyMap<Node, ScopedType>;
}

/** The module in which types are read. */
export interface TypeContext {
  readonly source: SourceFile;
  readonly scopes: Scopes;
  /** The declarations that are being resolved. One that occurs again is a cycle. */
  readonly resolving: readonly Node[];
}

/** Returns which of tsweb's number types an imported name is; `undefined` for any other import. */
export function numberTypeOf(source: string, name: string): Coercion | undefined {
  return source === "tsweb" && (name === "int" || name === "float") ? name : undefined;
}

/** Returns which of tsweb's number types `namespace.name` is; `undefined` for any other qualified name. */
export function qualifiedNumberType({ left, right }: ESTree.TSQualifiedName, scope: Scope): Coercion | undefined {
  const namespace = left.type === "Identifier" ? scope.findType(left.name)?.imported : undefined;
  return namespace?.name === "*" ? numberTypeOf(namespace.source, right.name) : undefined;
}

/**
 * Resolves a reference to a type alias or type parameter of this module: to the alias's type, or to the
 * parameter's argument or constraint.
 *
 * @throws CompileError when an alias refers to itself
 */
export function resolveDeclaration(
  binding: Binding,
  from: ScopedType,
  reference: { typeArguments: ESTree.TSTypeParameterInstantiation | null } & Node,
  context: TypeContext,
): ScopedType | undefined {
  const declaration = binding.declarations[0];
  if (declaration === undefined) return undefined;
  if (declaration.type === "TSTypeParameter") {
    const argument = from.typeArguments?.get(declaration);
    if (argument) return argument;
    return declaration.constraint ? { ...from, node: declaration.constraint, scope: binding.scope } : undefined;
  }
  if (declaration.type !== "TSTypeAliasDeclaration") return undefined;
  if (context.resolving.includes(declaration)) {
    throw new CompileError(
      `The type "${binding.name}" refers to itself, so the compile step cannot determine how to check it. Write int, float, number or boolean here.`,
      context.source,
      reference,
    );
  }
  const scope = context.scopes.byNode.get(declaration) ?? binding.scope;
  return {
    node: declaration.typeAnnotation,
    scope,
    typeArguments: bindTypeArguments(declaration.typeParameters, scope, from, reference),
  };
}

/** Binds the type arguments of a reference, or else their defaults, to a declaration's type parameters. */
function bindTypeArguments(
  parameters: ESTree.TSTypeParameterDeclaration | null | undefined,
  scope: Scope,
  from: ScopedType,
  reference: { typeArguments: ESTree.TSTypeParameterInstantiation | null },
): ReadonlyMap<Node, ScopedType> {
  const typeArguments = new Map<Node, ScopedType>();
  parameters?.params.forEach((parameter, index) => {
    const argument = reference.typeArguments?.params[index];
    if (argument) typeArguments.set(parameter, { ...from, node: argument });
    else if (parameter.default) typeArguments.set(parameter, { node: parameter.default, scope, typeArguments });
  });
  return typeArguments;
}

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
