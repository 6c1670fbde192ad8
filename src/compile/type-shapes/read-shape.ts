import type { ESTree } from "vite";
import type { ListShape, TypeShape } from "../../protocol/index.ts";
import { CompileError, type Node, stringValue } from "../syntax/index.ts";
import { literalFacts, type TypeFacts, typeFacts } from "../types/index.ts";
import { importedShape, referenceShape } from "./named-types.ts";
import { typeLiteralShape } from "./object-types.ts";
import { intersectShapes, uncheckedShape, unionShapes } from "./operations.ts";
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
