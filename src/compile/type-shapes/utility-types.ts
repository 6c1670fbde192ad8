import type { ESTree } from "vite";
import type { ObjectFields, TypeShape } from "../../protocol/index.ts";
import type { Node } from "../syntax/index.ts";
import { sentField } from "./object-types.ts";
import { excludeLiterals, uncheckedShape } from "./operations.ts";
import {
  arrayShape,
  readNestedShape,
  type ShapeContext,
  sourceText,
  type TypeNode,
  withoutWrappers,
} from "./shape-context.ts";

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
