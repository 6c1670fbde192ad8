/** Reads types of objects: type literals, interfaces, and the global types, most of which are made of other types. */
import type { ESTree } from "vite";
import type { ObjectFields, TypeShape } from "../../protocol/index.ts";
import type { Node } from "../syntax/index.ts";
import { propertyKey } from "../types/index.ts";
import { excludeLiterals, uncheckedShape } from "./operations.ts";
import {
  arrayShape,
  readNestedShape,
  type ShapeContext,
  sourceText,
  type TypeNode,
  withoutWrappers,
} from "./shape-context.ts";

/** Reads a type literal: `{ … }`. */
export function typeLiteralShape(type: TypeNode, members: readonly Node[], context: ShapeContext): TypeShape {
  const object = readFields(type, members, context);
  // `{}` accepts every value except null and undefined.
  return object && members.length > 0 ? { object } : uncheckedShape(sourceText(type));
}

/** Reads the members of an object type; `undefined` when one of them is not a property with a literal key. */
export function readFields(type: TypeNode, members: readonly Node[], context: ShapeContext): ObjectFields | undefined {
  const fields = new Map<string, TypeShape>();
  let rest: TypeShape | undefined;
  for (const member of members) {
    if (member.type === "TSIndexSignature") {
      if (rest || member.parameters[0]?.typeAnnotation.typeAnnotation.type !== "TSStringKeyword") return undefined;
      rest = readNestedShape({ ...type, node: member.typeAnnotation.typeAnnotation }, context);
      continue;
    }
    if (member.type !== "TSPropertySignature" && member.type !== "TSMethodSignature") return undefined;
    const name = propertyKey(member.key, member.computed);
    // In an object literal, `__proto__` sets the prototype. Calls with such a key are rejected in any case.
    if (name === undefined || name === "__proto__") return undefined;
    const field = fieldShape(type, member, context);
    if (context.use === "argument") fields.set(name, field);
    else if (CONVERSIONS.has(name) && mayBeFunction(member, field)) return undefined;
    else if (!isFunctionMember(member)) fields.set(name, sentField(field, context));
  }
  return { fields: [...fields], ...(rest ? { rest } : {}) };
}

/**
 * Returns the shape of a result's field. A value of an unknown type may be `undefined` or a function, and the field is not
 * sent then.
 */
function sentField(field: TypeShape, context: ShapeContext): TypeShape {
  if (context.use === "argument" || field.any === undefined) return field;
  const sent: TypeShape = { ...field, optional: true };
  context.undefinedFields.add(sent);
  return sent;
}

/** Methods that decide how an object is sent (docs/protocol.md 5.1). */
const CONVERSIONS = new Set(["to_dict", "toJSON", "then", "next", "toFixed"]);

function mayBeFunction(member: ESTree.TSPropertySignature | ESTree.TSMethodSignature, field: TypeShape): boolean {
  const { any, optional, ...values } = field;
  return isFunctionMember(member) || any !== undefined || (optional === true && Object.keys(values).length === 0);
}

/** Returns whether a member is a function, which results omit. A getter is a property. */
function isFunctionMember(member: ESTree.TSPropertySignature | ESTree.TSMethodSignature): boolean {
  if (member.type === "TSMethodSignature") return member.kind === "method";
  return member.typeAnnotation?.typeAnnotation.type === "TSFunctionType";
}

function fieldShape(
  type: TypeNode,
  member: ESTree.TSPropertySignature | ESTree.TSMethodSignature,
  context: ShapeContext,
): TypeShape {
  const annotation = member.type === "TSPropertySignature" ? member.typeAnnotation?.typeAnnotation : undefined;
  // JSON has no functions, so a required function would reject every call.
  if (member.type === "TSMethodSignature" || annotation?.type === "TSFunctionType") {
    const omitted = uncheckedShape(sourceText({ ...type, node: member }), true);
    context.undefinedFields.add(omitted);
    return omitted;
  }
  const shape = annotation ? readNestedShape({ ...type, node: annotation }, context) : uncheckedShape("");
  const field: TypeShape = member.optional ? { ...shape, optional: true } : shape;
  if (shape.optional) context.undefinedFields.add(field);
  return field;
}

/** A node that refers to a type by name, with optional type arguments. */
export type TypeReference = Node & { readonly typeArguments: ESTree.TSTypeParameterInstantiation | null };

/** Reads a global type: `Array`, `Record` and the other utility types of TypeScript. */
export function utilityTypeShape(
  name: string,
  type: TypeNode,
  reference: TypeReference,
  context: ShapeContext,
): TypeShape {
  const [first, second] = reference.typeArguments?.params ?? [];
  const read = (node: Node) => withoutWrappers(context, () => context.read({ ...type, node }, context));
  const text = sourceText(type);
  switch (name) {
    case "String":
      return { kinds: ["string"] };
    case "Number":
      return { kinds: ["float"] };
    case "Boolean":
      return { kinds: ["boolean"] };
    case "File":
    case "Blob":
      if (context.use === "argument") return { file: name };
      break;
    default:
      break;
  }
  const sent = context.use === "result" ? sentShape(name, reference, type, context) : undefined;
  if (sent) return sent;
  if (!first) return uncheckedShape(text);
  switch (name) {
    case "Array":
    case "ReadonlyArray":
      return arrayShape(type, first, context);
    case "NoInfer":
    case "Awaited":
      return context.read({ ...type, node: first }, context);
    case "Readonly":
      return read(first);
    case "NonNullable": {
      const { nullable: _null, optional: _undefined, ...shape } = read(first);
      return shape;
    }
    case "Partial":
      return mapFields(read(first), text, (fields) =>
        fields.map(([key, shape]) => {
          const field: TypeShape = { ...shape, optional: true };
          if (context.undefinedFields.has(shape)) context.undefinedFields.add(field);
          return [key, field];
        }),
      );
    case "Required":
      return mapFields(read(first), text, (fields) =>
        fields.map(([key, shape]) => {
          const { optional: _optional, ...required } = shape;
          return [key, context.undefinedFields.has(shape) ? shape : required];
        }),
      );
    default:
      break;
  }
  if (!second) return uncheckedShape(text);
  switch (name) {
    case "Record":
      return recordShape(read(first), sentField(readNestedShape({ ...type, node: second }, context), context), text);
    case "Exclude":
      return excludeLiterals(read(first), read(second), text);
    case "Pick":
    case "Omit": {
      const { literals, ...others } = read(second);
      if (!literals || Object.keys(others).length > 0) return uncheckedShape(text);
      return mapFields(read(first), text, (fields) =>
        fields.filter(([key]) => literals.includes(key) === (name === "Pick")),
      );
    }
    default:
      return uncheckedShape(text);
  }
}

/** Returns the shape of a global class as JSON (docs/protocol.md 5.1); `undefined` for any other global type. */
function sentShape(
  name: string,
  reference: TypeReference,
  type: TypeNode,
  context: ShapeContext,
): TypeShape | undefined {
  const [first, second] = reference.typeArguments?.params ?? [];
  if (first && context.depth === 0 && context.wrappers.has(name)) {
    context.unwrapped++;
    return context.read({ ...type, node: first }, context);
  }
  switch (name) {
    case "Date":
      return { kinds: ["string"], format: "date-time" };
    case "URL":
      return { kinds: ["string"] };
    case "Uint8Array":
    case "Buffer":
    case "ArrayBuffer":
    case "SharedArrayBuffer":
    case "DataView":
      return { kinds: ["string"], format: "base64" };
    case "Int8Array":
    case "Uint8ClampedArray":
    case "Int16Array":
    case "Uint16Array":
    case "Int32Array":
    case "Uint32Array":
      return { list: { of: { kinds: ["int"] } } };
    case "Float32Array":
    case "Float64Array":
      return { list: { of: { kinds: ["float"] } } };
    case "BigInt64Array":
    case "BigUint64Array":
      return { list: { of: { kinds: ["string"] } } };
    case "Set":
    case "ReadonlySet":
      return first && arrayShape(type, first, context);
    case "Map":
    case "ReadonlyMap":
      return second && { object: { fields: [], rest: readNestedShape({ ...type, node: second }, context) } };
    case "Record": {
      // The keys of JSON are strings. Which of them are present is known for literals only.
      const keys = first && context.read({ ...type, node: first }, context);
      const isNumber = keys?.kinds?.includes("float") || keys?.kinds?.includes("int");
      return second && isNumber
        ? { object: { fields: [], rest: readNestedShape({ ...type, node: second }, context) } }
        : undefined;
    }
    default:
      return undefined;
  }
}

function mapFields(
  shape: TypeShape,
  text: string,
  map: (fields: ObjectFields["fields"]) => ObjectFields["fields"],
): TypeShape {
  const { object, ...others } = shape;
  // A union of objects, or an object with an index signature, would need more than a change of its fields.
  if (!object || !("fields" in object) || object.rest || Object.keys(others).length > 0) return uncheckedShape(text);
  return { object: { fields: map(object.fields) } };
}

function recordShape(keys: TypeShape, value: TypeShape, text: string): TypeShape {
  const { kinds, literals, ...others } = keys;
  if (Object.keys(others).length > 0) return uncheckedShape(text);
  if (kinds?.includes("string")) return { object: { fields: [], rest: value } };
  if (kinds || !literals || literals.some((key) => typeof key !== "string" || key === "__proto__")) {
    return uncheckedShape(text);
  }
  return { object: { fields: literals.map((key) => [String(key), value]) } };
}
