import type { ESTree } from "vite";
import type { ListShape, ObjectFields, TypeShape } from "../../protocol/index.ts";
import { type Binding, CompileError, type ImportedName, type Node, stringValue } from "../syntax/index.ts";
import { computedShape, namespaceMember, numberTypeOf } from "./checked-types.ts";
import { globalShape } from "./global-types.ts";
import { membersOf, readFields } from "./object-types.ts";
import { intersectShapes, joinFields, literalShape, uncheckedShape, unionShapes } from "./operations.ts";
import {
  arrayShape,
  createTypeContext,
  readNestedType,
  readOnce,
  sourceText,
  type TypeContext,
  type TypeNode,
  type TypeReference,
  withoutWrappers,
} from "./type-context.ts";
import { constantShape, elementShape } from "./values.ts";

/** Returns the shape of a type. A type that cannot be read is unchecked: its shape is `{ any: <source text> }`. */
export function readType(type: TypeNode, context: TypeContext): TypeShape {
  const { node } = type;
  const read = (child: Node) => readType({ ...type, node: child }, context);
  if (context.remainingNodes-- <= 0) return uncheckedShape(sourceText(type));
  switch (node.type) {
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
      const text = context.use === "coercion" ? undefined : stringValue(node.literal);
      return text === undefined ? literalShape(node.literal, sourceText(type)) : { literals: [text] };
    }
    case "TSParenthesizedType":
      return read(node.typeAnnotation);
    case "TSUnionType":
      return unionShapes(node.types.map(read), sourceText(type), context.use);
    case "TSIntersectionType":
      return withoutWrappers(context, () => intersectShapes(node.types.map(read), sourceText(type), context.use));
    case "TSTypeReference":
      return node.typeName.type === "Identifier"
        ? namedShape({ ...type, node }, node.typeName.name, context)
        : importedShape({ ...type, node }, namespaceMember(node.typeName, type.scope), context);
    case "TSImportType": {
      const name = node.qualifier?.type === "Identifier" ? node.qualifier.name : undefined;
      const imported = name === undefined ? undefined : { source: node.source.value, name };
      return importedShape({ ...type, node }, imported, context);
    }
    case "TSTypeQuery":
      return valueTypeShape(type, node, context);
    case "TSIndexedAccessType":
      return indexedAccessShape(type, node, context);
    case "TSConditionalType":
      return computedShape(type, context);
    default:
      return context.use === "coercion" ? uncheckedShape(sourceText(type)) : readUncoercedType(type, context);
  }
}

/** Returns the shape of a type whose values are never coerced as a whole. */
function readUncoercedType(type: TypeNode, context: TypeContext): TypeShape {
  const { node } = type;
  switch (node.type) {
    case "TSStringKeyword":
      return { kinds: ["string"] };
    case "TSTypeOperator":
      return node.operator === "readonly"
        ? readType({ ...type, node: node.typeAnnotation }, context)
        : uncheckedShape(sourceText(type));
    case "TSArrayType":
      return arrayShape(type, node.elementType, context);
    case "TSTupleType":
      return tupleShape(type, node, context);
    case "TSTypeLiteral": {
      const object = readFields(type, node.members, context);
      // `{}` accepts every value except null and undefined.
      const isReadable = object && (node.members.length > 0 || context.use === "members");
      return isReadable ? { object } : uncheckedShape(sourceText(type));
    }
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
function sentAs(shape: TypeShape, type: TypeNode, { use }: TypeContext): TypeShape {
  return use === "result" ? shape : uncheckedShape(sourceText(type));
}

function tupleShape(type: TypeNode, { elementTypes }: ESTree.TSTupleType, context: TypeContext): TypeShape {
  const items: TypeShape[] = [];
  let rest: TypeShape | undefined;
  for (const element of elementTypes) {
    // With elements after the rest element, it is ambiguous which items of a value belong to the rest.
    if (rest) return uncheckedShape(sourceText(type));
    const named = element.type === "TSNamedTupleMember" ? element : undefined;
    const item: Node = named ? named.elementType : element;
    if (item.type === "TSRestType") {
      const { list } = readNestedType({ ...type, node: item.typeAnnotation }, context);
      if (!list || !("of" in list)) return uncheckedShape(sourceText(type));
      rest = list.of;
      continue;
    }
    const isOptional = named?.optional || item.type === "TSOptionalType";
    const node = item.type === "TSOptionalType" ? item.typeAnnotation : item;
    const shape = readNestedType({ ...type, node }, context);
    items.push(isOptional ? { ...shape, optional: true } : shape);
  }
  const list: ListShape = { items, ...(rest ? { rest } : {}) };
  return { list };
}

/** Reads `typeof x` for a const of the same module, or `(typeof x)[number]`. Only what is coerced is known of values. */
function valueTypeShape(type: TypeNode, { exprName }: ESTree.TSTypeQuery, context: TypeContext): TypeShape {
  const text = sourceText(type);
  if (context.use !== "coercion") {
    try {
      const shape = readType(type, createTypeContext("coercion", readType));
      return unionShapes([shape], text, "argument");
    } catch (error) {
      // The signature reports it for the type of a parameter. Inside another type it is unchecked.
      if (error instanceof CompileError) return uncheckedShape(text);
      throw error;
    }
  }
  const binding = exprName.type === "Identifier" ? type.scope.findValue(exprName.name) : undefined;
  if (!binding) return uncheckedShape(text);
  return type.node.type === "TSTypeQuery" ? constantShape(binding, type, context) : elementShape(binding);
}

function indexedAccessShape(type: TypeNode, node: ESTree.TSIndexedAccessType, context: TypeContext): TypeShape {
  const target = node.objectType.type === "TSParenthesizedType" ? node.objectType.typeAnnotation : node.objectType;
  const unchecked = uncheckedShape(sourceText(type));
  if (target.type === "TSTypeQuery") {
    return node.indexType.type === "TSNumberKeyword" ? valueTypeShape(type, target, context) : unchecked;
  }
  const key = node.indexType.type === "TSLiteralType" ? stringValue(node.indexType.literal) : undefined;
  if (context.use === "coercion") {
    const member = key === undefined ? undefined : membersOf({ ...type, node: target }, context)?.get(key);
    const memberType = member?.type;
    const shape = memberType && readOnce(memberType.node, context, () => readType(memberType, context));
    return shape ? { ...shape, ...(member?.optional ? { optional: true } : {}) } : unchecked;
  }
  const { list, object, ...others } = readType({ ...type, node: target }, context);
  // The property may also be that of another member of a union, such as the length of a string.
  if (Object.keys(others).length > 0 || (list && object)) return unchecked;
  if (node.indexType.type === "TSNumberKeyword" && list && "of" in list) return list.of;
  const field = object && "fields" in object && object.fields.find(([name]) => name === key);
  return field ? field[1] : unchecked;
}

function namedShape(type: TypeReference, name: string, context: TypeContext): TypeShape {
  const binding = type.scope.findType(name);
  if (!binding) return globalShape(name, type, context);
  return binding.imported ? importedShape(type, binding.imported, context) : declaredShape(type, binding, context);
}

/** Reads an imported type: `int` and `float` of tsweb, or a type of another module of the project. */
function importedShape(type: TypeReference, imported: ImportedName | undefined, context: TypeContext): TypeShape {
  const number = imported && numberTypeOf(imported);
  if (number) return { kinds: [number] };
  const target = imported && context.lookup(type.module, imported);
  const binding = target?.module.scopes.module.findType(target.local);
  if (!target || !binding || binding.imported) return uncheckedShape(sourceText(type));
  return declaredShape(type, binding, context, target.module);
}

/** Reads a type that a module declares: an alias, an interface with all declarations of its name, or a type parameter. */
function declaredShape(
  type: TypeReference,
  { declarations, scope }: Binding,
  context: TypeContext,
  module = type.module,
): TypeShape {
  const from = { ...type, openDepth: context.open.length };
  const [declaration] = declarations;
  switch (declaration?.type) {
    case "TSTypeParameter": {
      const argument = type.typeArguments?.get(declaration);
      if (argument) return typeArgumentShape(argument, context);
      const node = declaration.constraint;
      const shape = node && readOnce(declaration, context, () => readType({ ...type, node }, context));
      return shape ?? uncheckedShape(sourceText(type));
    }
    case "TSTypeAliasDeclaration": {
      const target = bindTypeArguments({ node: declaration, scope, module }, from);
      return recursiveShape(declaration, type, context, () =>
        readType({ ...target, node: declaration.typeAnnotation }, context),
      );
    }
    case "TSInterfaceDeclaration": {
      const nodes = declarations.filter((node) => node.type === "TSInterfaceDeclaration");
      const isMergedWithClass = nodes.length < declarations.length;
      if (context.use === "coercion" || (isMergedWithClass && context.use !== "members")) break;
      const parts = nodes.map((node) => bindTypeArguments({ node, scope, module }, from));
      return recursiveShape(
        declaration,
        type,
        context,
        () => interfaceShape(parts, context) ?? uncheckedShape(sourceText(type)),
      );
    }
    default:
  }
  return uncheckedShape(sourceText(type));
}

/** Reads all declarations of an interface, and the interfaces that they extend; `undefined` if one of them cannot be read. */
function interfaceShape(parts: readonly Declared<ESTree.TSInterfaceDeclaration>[], context: TypeContext) {
  const ownFields: ObjectFields[] = [];
  const inheritedFields: ObjectFields[] = [];
  for (const type of parts) {
    const fields = readFields(type, type.node.body.body, context);
    if (!fields) return undefined;
    ownFields.push(fields);
    for (const node of type.node.extends) {
      const name = node.expression.type === "Identifier" ? node.expression.name : undefined;
      const object = name === undefined ? undefined : namedShape({ ...type, node }, name, context).object;
      if (object && "fields" in object) inheritedFields.push(object);
      else if (context.use !== "members") return undefined;
    }
  }
  const overridden = new Set(ownFields.flatMap((object) => object.fields.map(([name]) => name)));
  const keptFields = inheritedFields.map((object) => ({
    ...object,
    fields: object.fields.filter(([name]) => !overridden.has(name)),
  }));
  const all = [...keptFields, ...ownFields].filter(({ fields, rest }) => fields.length > 0 || rest);
  const object = joinFields(all, context.use);
  return object && (all.length > 0 || context.use === "members") ? { object } : undefined;
}

type GenericDeclaration = ESTree.TSTypeAliasDeclaration | ESTree.TSInterfaceDeclaration;

type Declared<D extends GenericDeclaration> = TypeNode & { readonly node: D };

/** Binds the type arguments of a reference, or else their defaults, to the type parameters of a declaration. */
function bindTypeArguments<D extends GenericDeclaration>(declared: Declared<D>, from: TypeReference): Declared<D> {
  const { node, module } = declared;
  const scope = module.scopes.byNode.get(node) ?? declared.scope;
  const typeArguments = new Map<Node, TypeNode>();
  node.typeParameters?.params.forEach((parameter, index) => {
    const argument = from.node.typeArguments?.params[index];
    if (argument) typeArguments.set(parameter, { ...from, node: argument });
    else if (parameter.default) typeArguments.set(parameter, { node: parameter.default, scope, module, typeArguments });
  });
  return { node, scope, module, typeArguments };
}

/** Reads a type argument with the declarations open that were open where it is written. */
function typeArgumentShape(argument: TypeNode, context: TypeContext): TypeShape {
  const inner = context.open.splice(argument.openDepth ?? context.open.length);
  const shape = readType(argument, context);
  context.open.push(...inner);
  return shape;
}

/** Reads a declaration once. Where it refers to itself, its shape is a `ref`. */
function recursiveShape(
  declaration: GenericDeclaration,
  type: TypeReference,
  context: TypeContext,
  read: () => TypeShape,
): TypeShape {
  const { name } = declaration.id;
  const outer = context.open.find((open) => open.declaration === declaration);
  if (outer) {
    const isAlias = declaration.type === "TSTypeAliasDeclaration"; // TypeScript reports an interface
    if (isAlias && (context.use === "coercion" || context.use === "members")) {
      throw new CompileError(
        `The type "${name}" refers to itself, so the compile step cannot determine how to check it. Write int, float, number or boolean here.`,
        type.module.source,
        type.node,
      );
    }
    // Without an array or object in between, or with different type arguments, the expansion would never end.
    const endsExpansion = context.depth > outer.depth && passesOwnTypeParameters(declaration, type);
    if (!endsExpansion) return uncheckedShape(sourceText(type));
    outer.ref ??= context.shapes.push({}) - 1;
    return { ref: outer.ref };
  }
  const open: TypeContext["open"][number] = { declaration, depth: context.depth };
  context.open.push(open);
  const shape = nameObject(declaration, read(), context);
  context.open.pop();
  if (open.ref !== undefined) context.shapes[open.ref] = { ...shape, name };
  return shape;
}

/** Adds the name of its declaration to an object type of a result. A generic type has a shape for each use, and no name. */
function nameObject({ id, typeParameters }: GenericDeclaration, shape: TypeShape, { use }: TypeContext): TypeShape {
  const { object, ...others } = shape;
  if (use !== "result" || typeParameters || !object || object.name !== undefined) return shape;
  return Object.keys(others).length === 0 ? { object: { name: id.name, ...object } } : shape;
}

/** Returns whether a reference inside a declaration passes the declaration's own type parameters, in order. */
function passesOwnTypeParameters({ typeParameters }: GenericDeclaration, { node, scope }: TypeReference): boolean {
  return (typeParameters?.params ?? []).every((parameter, index) => {
    const argument = node.typeArguments?.params[index];
    if (argument?.type !== "TSTypeReference" || argument.typeName.type !== "Identifier") return false;
    return scope.findType(argument.typeName.name)?.declarations[0] === parameter;
  });
}
