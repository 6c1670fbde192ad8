import type { ESTree } from "vite";
import type { ListShape, ObjectFields, TypeShape } from "../../protocol/index.ts";
import { type Binding, CompileError, type ImportedName, type Node, stringValue } from "../syntax/index.ts";
import { literalFacts, type TypeFacts, typeFacts } from "../types/index.ts";
import { readFields, type TypeReference, typeLiteralShape, utilityTypeShape } from "./object-types.ts";
import { intersectShapes, joinFields, uncheckedShape, unionShapes } from "./operations.ts";
import {
  arrayShape,
  readNestedShape,
  type ShapeContext,
  sourceText,
  type TypeNode,
  withoutWrappers,
} from "./shape-context.ts";

/** Returns the shape of a type. A type that cannot be read is unchecked: its shape is `{ any: <source text> }`. */
export function readShape(type: TypeNode, context: ShapeContext): TypeShape {
  const { node } = type;
  const read = (child: Node) => readShape({ ...type, node: child }, context);
  if (context.remainingNodes-- <= 0) return uncheckedShape(sourceText(type));
  switch (node.type) {
    case "TSStringKeyword":
      return { kinds: ["string"] };
    case "TSNumberKeyword":
      return { kinds: ["float"] };
    case "TSBooleanKeyword":
      return { kinds: ["boolean"] };
    case "TSNullKeyword":
      return { nullable: true };
    case "TSUndefinedKeyword":
    case "TSVoidKeyword":
      return { optional: true };
    case "TSNeverKeyword":
      return {};
    case "TSLiteralType": {
      const text = stringValue(node.literal);
      return text === undefined ? shapeFromFacts(literalFacts(node.literal), type) : { literals: [text] };
    }
    case "TSParenthesizedType":
      return read(node.typeAnnotation);
    case "TSTypeOperator":
      return node.operator === "readonly" ? read(node.typeAnnotation) : uncheckedShape(sourceText(type));
    case "TSUnionType":
      return unionShapes(node.types.map(read), sourceText(type), context.use);
    case "TSIntersectionType":
      return withoutWrappers(context, () => intersectShapes(node.types.map(read), sourceText(type)));
    case "TSArrayType":
      return arrayShape(type, node.elementType, context);
    case "TSTupleType":
      return tupleShape(type, node, context);
    case "TSTypeLiteral":
      return typeLiteralShape(type, node.members, context);
    case "TSTypeReference":
      return referenceShape(type, node, context);
    case "TSImportType":
      return node.qualifier?.type === "Identifier"
        ? importedShape(type, { source: node.source.value, name: node.qualifier.name }, node, context)
        : uncheckedShape(sourceText(type));
    case "TSTypeQuery":
      return typeQueryShape(type);
    case "TSIndexedAccessType":
      return indexedAccessShape(type, node, context);
    case "TSTypePredicate":
      return sentAs(node.asserts ? { optional: true } : { kinds: ["boolean"] }, type, context);
    case "TSBigIntKeyword":
    case "TSTemplateLiteralType":
      return sentAs({ kinds: ["string"] }, type, context);
    default:
      return uncheckedShape(sourceText(type));
  }
}

/** Returns the shape that a type has as JSON. It is unchecked as an argument, because a call has no such values. */
function sentAs(shape: TypeShape, type: TypeNode, { use }: ShapeContext): TypeShape {
  return use === "result" ? shape : uncheckedShape(sourceText(type));
}

/** Converts the facts of a type to its shape. */
export function shapeFromFacts(facts: TypeFacts, type: TypeNode): TypeShape {
  const { types: kinds, literals, nullable, optional, unchecked } = facts;
  if (unchecked) return uncheckedShape(sourceText(type), optional);
  const shape: TypeShape = { kinds, literals, ...(nullable ? { nullable } : {}), ...(optional ? { optional } : {}) };
  return unionShapes([shape], sourceText(type), "argument");
}

function tupleShape(type: TypeNode, { elementTypes }: ESTree.TSTupleType, context: ShapeContext): TypeShape {
  const items: TypeShape[] = [];
  let rest: TypeShape | undefined;
  for (const element of elementTypes) {
    // With elements after the rest element, it is ambiguous which items of a value belong to the rest.
    if (rest) return uncheckedShape(sourceText(type));
    const named = element.type === "TSNamedTupleMember" ? element : undefined;
    const item: Node = named ? named.elementType : element;
    if (item.type === "TSRestType") {
      const { list } = readNestedShape({ ...type, node: item.typeAnnotation }, context);
      if (!list || !("of" in list)) return uncheckedShape(sourceText(type));
      rest = list.of;
      continue;
    }
    const isOptional = named?.optional || item.type === "TSOptionalType";
    const node = item.type === "TSOptionalType" ? item.typeAnnotation : item;
    const shape = readNestedShape({ ...type, node }, context);
    items.push(isOptional ? { ...shape, optional: true } : shape);
  }
  const list: ListShape = { items, ...(rest ? { rest } : {}) };
  return { list };
}

/** Reads `typeof x` for a const of the same module. */
function typeQueryShape(type: TypeNode): TypeShape {
  const { scopes, source } = type.module;
  try {
    return shapeFromFacts(typeFacts({ node: type.node, scope: type.scope }, { scopes, source, resolving: [] }), type);
  } catch (error) {
    // The signature reports it for the type of a parameter. Inside another type it is unchecked.
    if (error instanceof CompileError) return uncheckedShape(sourceText(type));
    throw error;
  }
}

function indexedAccessShape(type: TypeNode, node: ESTree.TSIndexedAccessType, context: ShapeContext): TypeShape {
  const target = node.objectType.type === "TSParenthesizedType" ? node.objectType.typeAnnotation : node.objectType;
  if (target.type === "TSTypeQuery") return typeQueryShape(type);
  const { list, object, ...others } = readShape({ ...type, node: target }, context);
  const unchecked = uncheckedShape(sourceText(type));
  // The property may also be that of another member of a union, such as the length of a string.
  if (Object.keys(others).length > 0 || (list && object)) return unchecked;
  if (node.indexType.type === "TSNumberKeyword" && list && "of" in list) return list.of;
  const key = node.indexType.type === "TSLiteralType" ? stringValue(node.indexType.literal) : undefined;
  const field = object && "fields" in object && object.fields.find(([name]) => name === key);
  return field ? field[1] : unchecked;
}

/** Reads a type reference: to a type of this module, an imported type or a global type. */
function referenceShape(type: TypeNode, node: ESTree.TSTypeReference, context: ShapeContext): TypeShape {
  const name = node.typeName;
  if (name.type === "Identifier") return namedShape(type, name.name, node, context);
  if (name.type !== "TSQualifiedName" || name.left.type !== "Identifier") return uncheckedShape(sourceText(type));
  const namespace = type.scope.findType(name.left.name)?.imported;
  if (namespace?.name !== "*") return uncheckedShape(sourceText(type));
  return importedShape(type, { source: namespace.source, name: name.right.name }, node, context);
}

function namedShape(type: TypeNode, name: string, reference: TypeReference, context: ShapeContext): TypeShape {
  const binding = type.scope.findType(name);
  if (!binding) return utilityTypeShape(name, { ...type, node: reference }, reference, context);
  if (binding.imported) return importedShape(type, binding.imported, reference, context);
  return declaredShape(binding, type, reference, context);
}

/** Reads an imported type: `int` and `float` of tsweb, or a type of another module of the project. */
function importedShape(
  type: TypeNode,
  imported: ImportedName,
  reference: TypeReference,
  context: ShapeContext,
): TypeShape {
  const { source, name } = imported;
  if (source === "tsweb" && (name === "int" || name === "float")) return { kinds: [name] };
  const target = context.lookup(type.module, imported);
  const binding = target?.module.scopes.module.findType(target.local);
  if (!target || !binding || binding.imported) return uncheckedShape(sourceText({ ...type, node: reference }));
  return declaredShape(binding, type, reference, context, target.module);
}

function declaredShape(
  binding: Binding,
  type: TypeNode,
  reference: TypeReference,
  context: ShapeContext,
  module = type.module,
): TypeShape {
  const text = sourceText({ ...type, node: reference });
  const [declaration] = binding.declarations;
  switch (declaration?.type) {
    case "TSTypeParameter": {
      const argument = type.typeArguments.get(declaration);
      if (argument) return typeArgumentShape(argument, context);
      return declaration.constraint
        ? readShape({ ...type, node: declaration.constraint }, context)
        : uncheckedShape(text);
    }
    case "TSTypeAliasDeclaration": {
      const target = declaredType(declaration, { type, reference, module, outer: binding.scope, context });
      return recursiveShape(declaration, type, reference, context, () =>
        nameObject(declaration, readShape({ ...target, node: declaration.typeAnnotation }, context), context),
      );
    }
    case "TSInterfaceDeclaration": {
      const parts = binding.declarations.filter((node) => node.type === "TSInterfaceDeclaration");
      if (parts.length < binding.declarations.length) return uncheckedShape(text); // merged with a class
      const types = parts.map((part) => declaredType(part, { type, reference, module, outer: binding.scope, context }));
      return recursiveShape(declaration, type, reference, context, () =>
        nameObject(declaration, interfaceShape(parts, types, text, context), context),
      );
    }
    default:
      return uncheckedShape(text);
  }
}

/** Reads an interface: all declarations of its name, and the interfaces that they extend. */
function interfaceShape(
  parts: readonly ESTree.TSInterfaceDeclaration[],
  types: readonly TypeNode[],
  text: string,
  context: ShapeContext,
): TypeShape {
  const ownFields: ObjectFields[] = [];
  const inheritedFields: ObjectFields[] = [];
  for (const [index, declaration] of parts.entries()) {
    const type = types[index];
    const fields = type && readFields(type, declaration.body.body, context);
    if (!fields) return uncheckedShape(text);
    ownFields.push(fields);
    for (const heritage of declaration.extends) {
      const parent = heritage.expression.type === "Identifier" ? heritage.expression.name : undefined;
      const object = parent === undefined ? undefined : namedShape(type, parent, heritage, context).object;
      if (!object || !("fields" in object)) return uncheckedShape(text);
      inheritedFields.push(object);
    }
  }
  const overridden = new Set(ownFields.flatMap((object) => object.fields.map(([name]) => name)));
  const keptFields = inheritedFields.map((object) => ({
    ...object,
    fields: object.fields.filter(([name]) => !overridden.has(name)),
  }));
  const object = joinFields([...keptFields, ...ownFields].filter(({ fields, rest }) => fields.length > 0 || rest));
  return object && object.fields.length + (object.rest ? 1 : 0) > 0 ? { object } : uncheckedShape(text);
}

/** Adds the name of its declaration to an object type of a result. A generic type has a shape for each use, and no name. */
function nameObject({ id, typeParameters }: GenericDeclaration, shape: TypeShape, { use }: ShapeContext): TypeShape {
  const { object, ...others } = shape;
  if (use === "argument" || typeParameters || !object || object.name !== undefined) return shape;
  return Object.keys(others).length === 0 ? { object: { name: id.name, ...object } } : shape;
}

type GenericDeclaration = ESTree.TSTypeAliasDeclaration | ESTree.TSInterfaceDeclaration;

interface DeclarationReference {
  readonly type: TypeNode;
  readonly reference: TypeReference;
  readonly module: TypeNode["module"];
  readonly outer: TypeNode["scope"];
  readonly context: ShapeContext;
}

/** Returns the type of a declaration, with the reference's type arguments bound to its type parameters. */
function declaredType(
  declaration: GenericDeclaration,
  { type, reference, module, outer, context }: DeclarationReference,
): TypeNode {
  const scope = module.scopes.byNode.get(declaration) ?? outer;
  const typeArguments = new Map<Node, TypeNode>();
  declaration.typeParameters?.params.forEach((parameter, index) => {
    const argument = reference.typeArguments?.params[index];
    if (argument) typeArguments.set(parameter, { ...type, node: argument, openDepth: context.open.length });
    else if (parameter.default) typeArguments.set(parameter, { node: parameter.default, scope, module, typeArguments });
  });
  return { node: declaration, scope, module, typeArguments };
}

/** Reads a type argument with the declarations open that were open where it is written. */
function typeArgumentShape(argument: TypeNode, context: ShapeContext): TypeShape {
  const inner = context.open.splice(argument.openDepth ?? context.open.length);
  const shape = readShape(argument, context);
  context.open.push(...inner);
  return shape;
}

/** Reads a declaration once. Where it refers to itself, its shape is a `ref`. */
function recursiveShape(
  declaration: GenericDeclaration,
  type: TypeNode,
  reference: TypeReference,
  context: ShapeContext,
  read: () => TypeShape,
): TypeShape {
  const outer = context.open.find((open) => open.declaration === declaration);
  if (outer) {
    // Without an array or object in between, or with different type arguments, the expansion would never end.
    const endsExpansion = context.depth > outer.depth && passesOwnTypeParameters(declaration, type, reference);
    if (!endsExpansion) return uncheckedShape(sourceText({ ...type, node: reference }));
    outer.ref ??= context.shapes.push({}) - 1;
    return { ref: outer.ref };
  }
  const open: ShapeContext["open"][number] = { declaration, depth: context.depth };
  context.open.push(open);
  const shape = read();
  context.open.pop();
  if (open.ref !== undefined) context.shapes[open.ref] = { ...shape, name: declaration.id.name };
  return shape;
}

/** Returns whether a reference inside a declaration passes the declaration's own type parameters, in order. */
function passesOwnTypeParameters(
  { typeParameters }: GenericDeclaration,
  { scope }: TypeNode,
  { typeArguments }: TypeReference,
): boolean {
  return (typeParameters?.params ?? []).every((parameter, index) => {
    const argument = typeArguments?.params[index];
    if (argument?.type !== "TSTypeReference" || argument.typeName.type !== "Identifier") return false;
    return scope.findType(argument.typeName.name)?.declarations[0] === parameter;
  });
}
