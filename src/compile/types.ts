import type { ESTree } from "vite";
import type { Coercion } from "../protocol/index.ts";
import { CompileError, type Source } from "./errors.ts";
import { literalFacts, valueFacts } from "./inference.ts";
import { membersOf } from "./members.ts";
import type { Binding, Scope, Scopes } from "./scope.ts";
import { any, type Facts, intersect, union } from "./type-facts.ts";
import { type Node, stringValue, walk } from "./walk.ts";

/** A type and where its names are looked up. */
export interface Typed {
  readonly node: Node;
  readonly scope: Scope;
  /** What the type parameters in scope stand for here. */
  readonly given?: ReadonlyMap<Node, Typed>;
}

/** What the reading of types needs to know of its module. */
export interface TypeReader {
  readonly source: Source;
  readonly scopes: Scopes;
  /** The type aliases being read: one that turns up twice is a cycle. */
  readonly path: readonly Node[];
}

/**
 * Reads what a type says about checking. `int` and `float` are tsweb's, under any alias; `number` is a
 * float; aliases, generic ones too, are followed within the module. A type that another module
 * declares is documentation: whatever it is, its values pass as they came.
 *
 * @throws CompileError for a type that names itself, or that holds a checked type in a way this cannot read
 */
export function typeFacts(type: Typed, reader: TypeReader): Facts {
  const { node } = type;
  const inner = (child: Node) => typeFacts({ ...type, node: child }, reader);
  switch (node.type) {
    case "TSNumberKeyword":
      return { kinds: ["float"], literals: [] };
    case "TSBooleanKeyword":
      return { kinds: ["boolean"], literals: [] };
    case "TSNullKeyword":
      return { kinds: [], literals: [], nullable: true };
    case "TSUndefinedKeyword":
    case "TSVoidKeyword":
      return { kinds: [], literals: [], optional: true };
    case "TSNeverKeyword":
      return { kinds: [], literals: [] };
    case "TSLiteralType":
      return literalFacts(node.literal);
    case "TSParenthesizedType":
      return inner(node.typeAnnotation);
    case "TSUnionType":
      return union(node.types.map(inner));
    case "TSIntersectionType":
      return intersect(node.types.map(inner));
    case "TSTypeReference":
      return referenceFacts(type, node, reader);
    case "TSImportType":
      return importTypeFacts(node);
    case "TSTypeQuery":
      return queryFacts(node, type, reader);
    case "TSIndexedAccessType":
      return indexedFacts(node, type, reader);
    case "TSConditionalType":
      return refuseHidden({ ...type, node }, reader);
    default:
      return any();
  }
}

/** Says which of tsweb's two number types a name is, under whatever alias it was imported. */
function numberType(source: string, name: string): Coercion | undefined {
  return source === "tsweb" && (name === "int" || name === "float") ? name : undefined;
}

function kindFacts(kind: Coercion | undefined): Facts {
  return kind === undefined || kind === "any" ? any() : { kinds: [kind], literals: [] };
}

function importTypeFacts(node: ESTree.TSImportType): Facts {
  const { qualifier } = node;
  return qualifier?.type === "Identifier" ? kindFacts(numberType(node.source.value, qualifier.name)) : any();
}

function referenceFacts(type: Typed, node: ESTree.TSTypeReference, reader: TypeReader): Facts {
  const name = node.typeName;
  if (name.type === "TSQualifiedName") {
    if (name.left.type !== "Identifier") return any();
    const namespace = type.scope.type(name.left.name)?.imported;
    return namespace?.name === "*" ? kindFacts(numberType(namespace.source, name.right.name)) : any();
  }
  if (name.type !== "Identifier") return any();
  const binding = type.scope.type(name.name);
  if (!binding) return globalFacts(name.name, type, node, reader);
  if (binding.imported) return kindFacts(numberType(binding.imported.source, binding.imported.name));
  const target = declarationOf(binding, type, node, reader);
  return target ? typeFacts(target, { ...reader, path: [...reader.path, binding.nodes[0] ?? node] }) : any();
}

/**
 * Follows a reference to what it stands for in this module: an alias's type, a type parameter's
 * argument or constraint.
 *
 * @throws CompileError when an alias names itself
 */
export function declarationOf(
  binding: Binding,
  from: Typed,
  reference: { typeArguments: ESTree.TSTypeParameterInstantiation | null } & Node,
  reader: TypeReader,
): Typed | undefined {
  const declared = binding.nodes[0];
  if (declared === undefined) return undefined;
  if (declared.type === "TSTypeParameter") {
    const given = from.given?.get(declared);
    if (given) return given;
    return declared.constraint ? { ...from, node: declared.constraint, scope: binding.scope } : undefined;
  }
  if (declared.type !== "TSTypeAliasDeclaration") return undefined;
  if (reader.path.includes(declared)) {
    throw new CompileError(
      `The type "${binding.name}" is made of itself, so how to check it cannot be told: write int, float, number or boolean here.`,
      reader.source,
      reference,
    );
  }
  const scope = reader.scopes.of.get(declared) ?? binding.scope;
  return {
    node: declared.typeAnnotation,
    scope,
    given: typeArguments(declared.typeParameters, scope, from, reference),
  };
}

/** Pairs the type parameters of a declaration with what a reference gives for them. */
export function typeArguments(
  parameters: ESTree.TSTypeParameterDeclaration | null | undefined,
  scope: Scope,
  from: Typed,
  reference: { typeArguments: ESTree.TSTypeParameterInstantiation | null },
): ReadonlyMap<Node, Typed> {
  const given = new Map<Node, Typed>();
  parameters?.params.forEach((parameter, index) => {
    const argument = reference.typeArguments?.params[index];
    if (argument) given.set(parameter, { ...from, node: argument });
    else if (parameter.default) given.set(parameter, { node: parameter.default, scope, given });
  });
  return given;
}

function globalFacts(name: string, type: Typed, node: ESTree.TSTypeReference, reader: TypeReader): Facts {
  const argument = node.typeArguments?.params[0];
  switch (name) {
    case "Number":
      return kindFacts("float");
    case "Boolean":
      return kindFacts("boolean");
    case "Readonly":
    case "NoInfer":
    case "Awaited":
      return argument ? typeFacts({ ...type, node: argument }, reader) : any();
    case "NonNullable": {
      if (!argument) return any();
      const { nullable: _null, optional: _undefined, ...rest } = typeFacts({ ...type, node: argument }, reader);
      return rest;
    }
    case "Exclude":
    case "Extract":
      return refuseHidden(type, reader);
    default:
      return any();
  }
}

/** `typeof x`: what the value of a const of this module is, and nothing for any other. */
function queryFacts(node: ESTree.TSTypeQuery, type: Typed, reader: TypeReader): Facts {
  if (node.exprName.type !== "Identifier") return any();
  const binding = type.scope.value(node.exprName.name);
  return binding ? valueFacts(binding, reader) : any();
}

function indexedFacts(node: ESTree.TSIndexedAccessType, type: Typed, reader: TypeReader): Facts {
  const object = node.objectType.type === "TSParenthesizedType" ? node.objectType.typeAnnotation : node.objectType;
  if (object.type === "TSTypeQuery") return elementFacts(object, type);
  const key = node.indexType.type === "TSLiteralType" ? stringValue(node.indexType.literal) : undefined;
  const member = key === undefined ? undefined : membersOf({ ...type, node: object }, reader)?.get(key);
  if (!member?.type) return any();
  const facts = typeFacts(member.type, reader);
  return member.optional ? { ...facts, optional: true } : facts;
}

/** `(typeof SIZES)[number]` over a const list of literals: the literals. */
function elementFacts(query: ESTree.TSTypeQuery, type: Typed): Facts {
  if (query.exprName.type !== "Identifier") return any();
  const declared = type.scope.value(query.exprName.name)?.nodes[0];
  if (declared?.type !== "VariableDeclarator" || declared.init?.type !== "TSAsExpression") return any();
  const list = declared.init.expression;
  return list.type === "ArrayExpression" ? union(list.elements.map((e) => (e ? literalFacts(e) : any()))) : any();
}

/** Refuses a type that holds a checked type where this cannot tell what comes out; any other is documentation. */
function refuseHidden(type: Typed, reader: TypeReader): Facts {
  if (mentionsChecked(type, reader)) {
    throw new CompileError(
      "This type is computed, so whether it is int, float, number or boolean cannot be told: write the type that comes out of it.",
      reader.source,
      type.node,
    );
  }
  return any();
}

/** Answers whether a type mentions a checked type anywhere, the aliases and interfaces of this module included. */
export function mentionsChecked(type: Typed, reader: TypeReader, seen: Set<Node> = new Set()): boolean {
  let found = false;
  walk(type.node, (node) => {
    if (found) return false;
    if (node.type === "TSNumberKeyword" || node.type === "TSBooleanKeyword") found = true;
    if (node.type !== "TSTypeReference" || node.typeName.type === "ThisExpression") return true;
    const facts = mentionedBy(node, type, reader, seen);
    found ||= facts;
    return true;
  });
  return found;
}

function mentionedBy(node: ESTree.TSTypeReference, type: Typed, reader: TypeReader, seen: Set<Node>): boolean {
  const name = node.typeName;
  if (name.type === "TSQualifiedName") return referenceFacts(type, node, reader).kinds.length > 0;
  if (name.type !== "Identifier") return false;
  const binding = type.scope.type(name.name);
  if (binding?.imported) return numberType(binding.imported.source, binding.imported.name) !== undefined;
  return (binding?.nodes ?? []).some((declared) => {
    if (seen.has(declared)) return false;
    seen.add(declared);
    const given = declared.type === "TSTypeParameter" ? type.given?.get(declared) : undefined;
    if (given) return mentionsChecked(given, reader, seen);
    const scope = reader.scopes.of.get(declared) ?? type.scope;
    return mentionsChecked({ node: declared, scope }, reader, seen);
  });
}
