import type { ESTree } from "vite";
import type { ListShape, Shape } from "../../protocol/index.ts";
import { CompileError } from "../errors.ts";
import { literalFacts } from "../inference.ts";
import type { Facts } from "../type-facts.ts";
import { typeFacts } from "../types.ts";
import { stringValue } from "../walk.ts";
import { intersect, unchecked, union } from "./algebra.ts";
import { importedShape, referenceShape } from "./named.ts";
import { literalShape } from "./objects.ts";
import { type Reading, type Site, textOf } from "./reading.ts";

/** Reads what a strict application checks of a type. What it cannot read is unchecked, and says so. */
export function readShape(site: Site, reading: Reading): Shape {
  const { node } = site;
  const inner = (child: Site["node"]) => readShape({ ...site, node: child }, reading);
  if (reading.left-- <= 0) return unchecked(textOf(site));
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
      return text === undefined ? fromFacts(literalFacts(node.literal), site) : { literals: [text] };
    }
    case "TSParenthesizedType":
      return inner(node.typeAnnotation);
    case "TSTypeOperator":
      return node.operator === "readonly" ? inner(node.typeAnnotation) : unchecked(textOf(site));
    case "TSUnionType":
      return union(node.types.map(inner), textOf(site));
    case "TSIntersectionType":
      return intersect(node.types.map(inner), textOf(site));
    case "TSArrayType":
      return listShape(site, node.elementType, reading);
    case "TSTupleType":
      return tupleShape(site, node, reading);
    case "TSTypeLiteral":
      return literalShape(site, node.members, reading);
    case "TSTypeReference":
      return referenceShape(site, node, reading);
    case "TSImportType":
      return node.qualifier?.type === "Identifier"
        ? importedShape(site, { source: node.source.value, name: node.qualifier.name }, node, reading)
        : unchecked(textOf(site));
    case "TSTypeQuery":
      return queriedShape(site);
    case "TSIndexedAccessType":
      return indexedShape(site, node, reading);
    default:
      return unchecked(textOf(site));
  }
}

/** Reads what is inside an array or object: there, a type may be made of itself. */
export function readInside(site: Site, reading: Reading): Shape {
  reading.depth++;
  try {
    return readShape(site, reading);
  } finally {
    reading.depth--;
  }
}

/** Reads an array by the type of its items. */
export function listShape(site: Site, item: Site["node"], reading: Reading): Shape {
  return { list: { of: readInside({ ...site, node: item }, reading) } };
}

/** Turns what is known of a value's type into a shape. */
export function fromFacts({ kinds, literals, nullable, optional, other }: Facts, site: Site): Shape {
  if (other) return unchecked(textOf(site), optional);
  const shape: Shape = { kinds, literals, ...(nullable ? { nullable } : {}), ...(optional ? { optional } : {}) };
  return union([shape], textOf(site));
}

function tupleShape(site: Site, { elementTypes }: ESTree.TSTupleType, reading: Reading): Shape {
  const items: Shape[] = [];
  let rest: Shape | undefined;
  for (const element of elementTypes) {
    // After its rest a tuple may go on, and how long the rest is could then not be told.
    if (rest) return unchecked(textOf(site));
    const named = element.type === "TSNamedTupleMember" ? element : undefined;
    const type: Site["node"] = named ? named.elementType : element;
    if (type.type === "TSRestType") {
      const { list } = readInside({ ...site, node: type.typeAnnotation }, reading);
      if (!list || !("of" in list)) return unchecked(textOf(site));
      rest = list.of;
      continue;
    }
    const optional = named?.optional || type.type === "TSOptionalType";
    const written = type.type === "TSOptionalType" ? type.typeAnnotation : type;
    const shape = readInside({ ...site, node: written }, reading);
    items.push(optional ? { ...shape, optional: true } : shape);
  }
  const list: ListShape = { items, ...(rest ? { rest } : {}) };
  return { list };
}

/** `typeof x`: what a const of the same module is. */
function queriedShape(site: Site): Shape {
  const { scopes, source } = site.module;
  try {
    return fromFacts(typeFacts({ node: site.node, scope: site.scope }, { scopes, source, path: [] }), site);
  } catch (error) {
    // A type that a parameter could not have is told when it is one's. Inside of another it is unchecked.
    if (error instanceof CompileError) return unchecked(textOf(site));
    throw error;
  }
}

function indexedShape(site: Site, node: ESTree.TSIndexedAccessType, reading: Reading): Shape {
  const of = node.objectType.type === "TSParenthesizedType" ? node.objectType.typeAnnotation : node.objectType;
  if (of.type === "TSTypeQuery") return queriedShape(site);
  const { list, object } = readShape({ ...site, node: of }, reading);
  if (node.indexType.type === "TSNumberKeyword" && list && "of" in list) return list.of;
  const key = node.indexType.type === "TSLiteralType" ? stringValue(node.indexType.literal) : undefined;
  const field = object && "fields" in object && object.fields.find(([name]) => name === key);
  return field ? field[1] : unchecked(textOf(site));
}
