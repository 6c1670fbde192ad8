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
export function bindTypeArguments(
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
