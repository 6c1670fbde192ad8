/**
 * Reads how the type annotation or the default value of a parameter is coerced (docs/protocol.md 4.2).
 * Types of other modules are not read here: `../type-shapes` reads them for strict applications.
 *
 * Where there is no annotation, types are inferred from values. The two are one file because each needs the other: `typeof x` is
 * the type of a value, and `x as T` is a value with a type.
 */

import type { ESTree } from "vite";
import type { Coercion } from "../../protocol/index.ts";
import { type Binding, CompileError, findNode, type Node, type Scope, stringValue } from "../syntax/index.ts";
import {
  membersOf,
  numberTypeOf,
  qualifiedNumberType,
  resolveDeclaration,
  type ScopedType,
  type TypeContext,
} from "./resolve-type.ts";
import { intersectFacts, literalFacts, type TypeFacts, uncheckedFacts, unionFacts } from "./type-facts.ts";

export {
  type Member,
  type Members,
  membersOf,
  propertyKey,
  type ScopedType,
  type TypeContext,
} from "./resolve-type.ts";
export { literalFacts, parameterCoercion, type TypeFacts } from "./type-facts.ts";

/**
 * Returns how the values of a type are checked. `int` and `float` are tsweb's, under any alias; `number`
 * is `float`. Aliases of this module are followed, generic ones too. A type that another module declares
 * is unchecked: its values pass unchanged.
 *
 * @throws CompileError for a type that refers to itself, or a computed type that contains a checked type
 */
export function typeFacts(type: ScopedType, context: TypeContext): TypeFacts {
  const { node } = type;
  const read = (child: Node) => typeFacts({ ...type, node: child }, context);
  switch (node.type) {
    case "TSNumberKeyword":
      return { types: ["float"], literals: [] };
    case "TSBooleanKeyword":
      return { types: ["boolean"], literals: [] };
    case "TSNullKeyword":
      return { types: [], literals: [], nullable: true };
    case "TSUndefinedKeyword":
    case "TSVoidKeyword":
      return { types: [], literals: [], optional: true };
    case "TSNeverKeyword":
      return { types: [], literals: [] };
    case "TSLiteralType":
      return literalFacts(node.literal);
    case "TSParenthesizedType":
      return read(node.typeAnnotation);
    case "TSUnionType":
      return unionFacts(node.types.map(read));
    case "TSIntersectionType":
      return intersectFacts(node.types.map(read));
    case "TSTypeReference":
      return referenceFacts(type, node, context);
    case "TSImportType":
      return importTypeFacts(node);
    case "TSTypeQuery":
      return typeQueryFacts(node, type, context);
    case "TSIndexedAccessType":
      return indexedAccessFacts(node, type, context);
    case "TSConditionalType":
      return computedTypeFacts(type, context);
    default:
      return uncheckedFacts();
  }
}

function coercionFacts(type: Coercion | undefined): TypeFacts {
  return type === undefined || type === "any" ? uncheckedFacts() : { types: [type], literals: [] };
}

function importTypeFacts({ qualifier, source }: ESTree.TSImportType): TypeFacts {
  return coercionFacts(qualifier?.type === "Identifier" ? numberTypeOf(source.value, qualifier.name) : undefined);
}

function referenceFacts(type: ScopedType, node: ESTree.TSTypeReference, context: TypeContext): TypeFacts {
  const name = node.typeName;
  if (name.type === "TSQualifiedName") return coercionFacts(qualifiedNumberType(name, type.scope));
  if (name.type !== "Identifier") return uncheckedFacts();
  const binding = type.scope.findType(name.name);
  if (!binding) return globalTypeFacts(name.name, type, node, context);
  if (binding.imported) return coercionFacts(numberTypeOf(binding.imported.source, binding.imported.name));
  const target = resolveDeclaration(binding, type, node, context);
  const resolving = [...context.resolving, binding.declarations[0] ?? node];
  return target ? typeFacts(target, { ...context, resolving }) : uncheckedFacts();
}

function globalTypeFacts(
  name: string,
  type: ScopedType,
  node: ESTree.TSTypeReference,
  context: TypeContext,
): TypeFacts {
  const argument = node.typeArguments?.params[0];
  switch (name) {
    case "Number":
      return coercionFacts("float");
    case "Boolean":
      return coercionFacts("boolean");
    case "Readonly":
    case "NoInfer":
    case "Awaited":
      return argument ? typeFacts({ ...type, node: argument }, context) : uncheckedFacts();
    case "NonNullable": {
      if (!argument) return uncheckedFacts();
      const { nullable: _null, optional: _undefined, ...rest } = typeFacts({ ...type, node: argument }, context);
      return rest;
    }
    case "Exclude":
    case "Extract":
      return computedTypeFacts(type, context);
    default:
      return uncheckedFacts();
  }
}

/** Reads `typeof x` for a const of this module. Any other value is unchecked. */
function typeQueryFacts(node: ESTree.TSTypeQuery, type: ScopedType, context: TypeContext): TypeFacts {
  if (node.exprName.type !== "Identifier") return uncheckedFacts();
  const binding = type.scope.findValue(node.exprName.name);
  return binding ? constantFacts(binding, context) : uncheckedFacts();
}

function indexedAccessFacts(node: ESTree.TSIndexedAccessType, type: ScopedType, context: TypeContext): TypeFacts {
  const object = node.objectType.type === "TSParenthesizedType" ? node.objectType.typeAnnotation : node.objectType;
  if (object.type === "TSTypeQuery") return elementFacts(object, type);
  const key = node.indexType.type === "TSLiteralType" ? stringValue(node.indexType.literal) : undefined;
  const member = key === undefined ? undefined : membersOf({ ...type, node: object }, context)?.get(key);
  if (!member?.type) return uncheckedFacts();
  const facts = typeFacts(member.type, context);
  return member.optional ? { ...facts, optional: true } : facts;
}

/** Reads `(typeof SIZES)[number]`, where SIZES is an array of literals declared `as const`. */
function elementFacts(query: ESTree.TSTypeQuery, type: ScopedType): TypeFacts {
  if (query.exprName.type !== "Identifier") return uncheckedFacts();
  const declaration = type.scope.findValue(query.exprName.name)?.declarations[0];
  if (declaration?.type !== "VariableDeclarator" || declaration.init?.type !== "TSAsExpression") {
    return uncheckedFacts();
  }
  const array = declaration.init.expression;
  if (array.type !== "ArrayExpression") return uncheckedFacts();
  return unionFacts(array.elements.map((element) => (element ? literalFacts(element) : uncheckedFacts())));
}

/**
 * Treats a computed type as unchecked.
 *
 * @throws CompileError when it contains a checked type, because values would then pass without the check
 */
function computedTypeFacts(type: ScopedType, context: TypeContext): TypeFacts {
  if (containsCheckedType(type, context)) {
    throw new CompileError(
      "This type is computed, so the compile step cannot determine whether it is int, float, number or boolean. Write the resulting type here.",
      context.source,
      type.node,
    );
  }
  return uncheckedFacts();
}

const ARITHMETIC = new Set(["-", "*", "/", "%", "**", "|", "&", "^", "<<", ">>", ">>>"]);
const COMPARISONS = new Set(["<", "<=", ">", ">=", "==", "!=", "===", "!==", "in", "instanceof"]);

/**
 * Infers the type of a default value as TypeScript does: `3` is a `number` and `true` a `boolean`, and so
 * are arithmetic, comparisons and the consts of this module. Anything else is unchecked.
 *
 * @throws CompileError as {@link typeFacts}
 */
export function inferredFacts(node: Node, scope: Scope, context: TypeContext): TypeFacts {
  const infer = (child: Node) => inferredFacts(child, scope, context);
  switch (node.type) {
    case "ParenthesizedExpression":
    case "TSNonNullExpression":
    case "TSSatisfiesExpression":
      return infer(node.expression);
    case "TSAsExpression":
    case "TSTypeAssertion":
      return isConstAssertion(node.typeAnnotation)
        ? infer(node.expression)
        : typeFacts({ node: node.typeAnnotation, scope }, context);
    case "UnaryExpression":
      if (node.operator === "!") return { types: ["boolean"], literals: [] };
      return node.operator === "-" || node.operator === "+" || node.operator === "~"
        ? numericFacts([node.argument], infer)
        : uncheckedFacts();
    case "BinaryExpression":
      if (COMPARISONS.has(node.operator)) return { types: ["boolean"], literals: [] };
      return ARITHMETIC.has(node.operator) || node.operator === "+"
        ? numericFacts([node.left, node.right], infer)
        : uncheckedFacts();
    case "ConditionalExpression":
      return unionFacts([infer(node.consequent), infer(node.alternate)]);
    case "Identifier": {
      const binding = scope.findValue(node.name);
      if (binding) return constantFacts(binding, context);
      return node.name === "Infinity" || node.name === "NaN" ? { types: ["float"], literals: [] } : uncheckedFacts();
    }
    default:
      return widenLiteral(literalFacts(node));
  }
}

/** Reads the type of a const of this module from its annotation, or else from its value. */
function constantFacts(binding: Binding, context: TypeContext): TypeFacts {
  const declaration = binding.declarations[0];
  if (declaration?.type !== "VariableDeclarator" || declaration.id.type !== "Identifier") return uncheckedFacts();
  const annotation = declaration.id.typeAnnotation?.typeAnnotation;
  if (annotation) return typeFacts({ node: annotation, scope: binding.scope }, context);
  // Two consts that are initialized from each other have no value, and would be followed forever.
  if (!declaration.init || context.resolving.includes(declaration)) return uncheckedFacts();
  const resolving = [...context.resolving, declaration];
  return inferredFacts(declaration.init, binding.scope, { ...context, resolving });
}

function numericFacts(operands: readonly Node[], infer: (node: Node) => TypeFacts): TypeFacts {
  const areNumbers = operands.every((operand) => {
    const { types, unchecked } = infer(operand);
    return !unchecked && types.length > 0 && !types.includes("boolean");
  });
  return areNumbers ? { types: ["float"], literals: [] } : uncheckedFacts();
}

/** Widens a literal to its type, as TypeScript does for a default value. A string's type is not checked. */
function widenLiteral(facts: TypeFacts): TypeFacts {
  const value = facts.literals[0];
  if (typeof value === "number") return { types: ["float"], literals: [] };
  if (typeof value === "boolean") return { types: ["boolean"], literals: [] };
  return value === undefined ? facts : uncheckedFacts();
}

function isConstAssertion(type: Node): boolean {
  return type.type === "TSTypeReference" && type.typeName.type === "Identifier" && type.typeName.name === "const";
}

/**
 * Returns whether a type contains `int`, `float`, `number` or `boolean` anywhere, the aliases and
 * interfaces of this module included.
 */
export function containsCheckedType(type: ScopedType, context: TypeContext, visited: Set<Node> = new Set()): boolean {
  const isChecked = (node: Node) =>
    node.type === "TSNumberKeyword" ||
    node.type === "TSBooleanKeyword" ||
    (node.type === "TSTypeReference" && referenceContainsCheckedType(node, type, context, visited));
  return findNode(type.node, isChecked) !== undefined;
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
