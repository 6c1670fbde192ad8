/** Reads the global types: the utility types of TypeScript, and the classes that a result may contain. */
import type { ObjectFields, TypeShape } from "../../protocol/index.ts";
import type { Node } from "../syntax/index.ts";
import { computedShape } from "./checked-types.ts";
import { sentField } from "./object-types.ts";
import { excludeLiterals, onlyFields, uncheckedShape } from "./operations.ts";
import {
  arrayShape,
  readNestedType,
  sourceText,
  type TypeContext,
  type TypeReference,
  withoutWrappers,
} from "./type-context.ts";

/** Reads a global type: `Array`, `Record` and the other utility types of TypeScript. */
export function globalShape(name: string, type: TypeReference, context: TypeContext): TypeShape {
  const [first, second] = type.node.typeArguments?.params ?? [];
  const read = (node: Node) => withoutWrappers(context, () => context.read({ ...type, node }, context));
  const unchecked = uncheckedShape(sourceText(type));
  switch (name) {
    case "Number":
      return { kinds: ["float"] };
    case "Boolean":
      return { kinds: ["boolean"] };
    case "NoInfer":
    case "Awaited":
      return first ? context.read({ ...type, node: first }, context) : unchecked;
    case "Readonly":
      return first ? read(first) : unchecked;
    case "NonNullable": {
      const { nullable: _null, optional: _undefined, ...shape } = first ? read(first) : unchecked;
      return shape;
    }
    case "Exclude":
    case "Extract":
      if (context.use === "coercion") return computedShape(type, context);
      break;
    default:
      if (context.use === "coercion") return unchecked;
  }
  if (name === "String") return { kinds: ["string"] };
  if (context.use === "argument" && (name === "File" || name === "Blob")) return { file: name };
  const sent = context.use === "result" ? sentShape(name, type, context) : undefined;
  if (sent) return sent;
  if (!first) return unchecked;
  switch (name) {
    case "Array":
    case "ReadonlyArray":
      return arrayShape(type, first, context);
    case "Partial":
      return mapFields(read(first), unchecked, (fields) =>
        fields.map(([key, shape]) => {
          const field: TypeShape = { ...shape, optional: true };
          if (context.undefinedFields.has(shape)) context.undefinedFields.add(field);
          return [key, field];
        }),
      );
    case "Required":
      return mapFields(read(first), unchecked, (fields) =>
        fields.map(([key, shape]) => {
          const { optional: _optional, ...required } = shape;
          return [key, context.undefinedFields.has(shape) ? shape : required];
        }),
      );
    default:
      break;
  }
  if (!second) return unchecked;
  switch (name) {
    case "Record":
      if (context.use === "members") return unchecked;
      return recordShape(
        read(first),
        sentField(readNestedType({ ...type, node: second }, context), context),
        unchecked,
      );
    case "Exclude":
      return excludeLiterals(read(first), read(second)) ?? unchecked;
    case "Pick":
    case "Omit": {
      if (context.use === "members") return read(first);
      const { literals, ...others } = read(second);
      if (!literals || Object.keys(others).length > 0) return unchecked;
      return mapFields(read(first), unchecked, (fields) =>
        fields.filter(([key]) => literals.includes(key) === (name === "Pick")),
      );
    }
    default:
      return unchecked;
  }
}

const INTS: TypeShape = { list: { of: { kinds: ["int"] } } };
const FLOATS: TypeShape = { list: { of: { kinds: ["float"] } } };
const STRINGS: TypeShape = { list: { of: { kinds: ["string"] } } };
const BASE64: TypeShape = { kinds: ["string"], format: "base64" };

/** The shapes of global classes as JSON (docs/protocol.md 5.1). */
const CLASSES: ReadonlyMap<string, TypeShape> = new Map<string, TypeShape>([
  ["Date", { kinds: ["string"], format: "date-time" }],
  ["URL", { kinds: ["string"] }],
  ...sameShape(BASE64, "Uint8Array", "Buffer", "ArrayBuffer", "SharedArrayBuffer", "DataView"),
  ...sameShape(INTS, "Int8Array", "Uint8ClampedArray", "Int16Array", "Uint16Array", "Int32Array", "Uint32Array"),
  ...sameShape(FLOATS, "Float32Array", "Float64Array"),
  ...sameShape(STRINGS, "BigInt64Array", "BigUint64Array"),
]);

function sameShape(shape: TypeShape, ...names: string[]): [string, TypeShape][] {
  return names.map((name) => [name, shape]);
}

/** Returns the shape of a global class as JSON; `undefined` for any other global type. */
function sentShape(name: string, type: TypeReference, context: TypeContext): TypeShape | undefined {
  const [first, second] = type.node.typeArguments?.params ?? [];
  if (first && context.depth === 0 && context.wrappers.has(name)) {
    context.unwrapped++;
    return context.read({ ...type, node: first }, context);
  }
  const record = () => second && { object: { fields: [], rest: readNestedType({ ...type, node: second }, context) } };
  switch (name) {
    case "Set":
    case "ReadonlySet":
      return first && arrayShape(type, first, context);
    case "Map":
    case "ReadonlyMap":
      return record();
    case "Record": {
      // The keys of JSON are strings. Which of them are present is known for literals only.
      const { kinds } = first ? context.read({ ...type, node: first }, context) : {};
      return kinds?.includes("float") || kinds?.includes("int") ? record() : undefined;
    }
    default:
      return CLASSES.get(name);
  }
}

function mapFields(
  shape: TypeShape,
  unchecked: TypeShape,
  map: (fields: ObjectFields["fields"]) => ObjectFields["fields"],
): TypeShape {
  const object = onlyFields(shape);
  // A union of objects, or an object with an index signature, would need more than a change of its fields.
  return object && !object.rest ? { object: { fields: map(object.fields) } } : unchecked;
}

function recordShape(keys: TypeShape, value: TypeShape, unchecked: TypeShape): TypeShape {
  const { kinds, literals, ...others } = keys;
  if (Object.keys(others).length > 0) return unchecked;
  if (kinds?.includes("string")) return { object: { fields: [], rest: value } };
  if (kinds || !literals || literals.some((key) => typeof key !== "string" || key === "__proto__")) return unchecked;
  return { object: { fields: literals.map((key) => [String(key), value]) } };
}
