import type { ESTree } from "vite";
import type { ObjectFields, TypeShape } from "../../protocol/index.ts";
import type { Node } from "../syntax/index.ts";
import { excludeLiterals, uncheckedShape } from "./operations.ts";
import { arrayShape, readNestedShape, type ShapeContext, sourceText, type TypeNode } from "./shape-context.ts";

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
  const read = (node: Node) => context.read({ ...type, node }, context);
  const text = sourceText(type);
  switch (name) {
    case "String":
      return { kinds: ["string"] };
    case "Number":
      return { kinds: ["float"] };
    case "Boolean":
      return { kinds: ["boolean"] };
    default:
      break;
  }
  if (!first) return uncheckedShape(text);
  switch (name) {
    case "Array":
    case "ReadonlyArray":
      return arrayShape(type, first, context);
    case "Readonly":
    case "NoInfer":
    case "Awaited":
      return read(first);
    case "NonNullable": {
      const { nullable: _null, optional: _undefined, ...shape } = read(first);
      return shape;
    }
    case "Partial":
      return mapFields(read(first), text, (fields) =>
        fields.map(([key, shape]) => [key, { ...shape, optional: true }]),
      );
    case "Required":
      return mapFields(read(first), text, (fields) =>
        fields.map(([key, { optional: _optional, ...shape }]) => [key, shape]),
      );
    default:
      break;
  }
  if (!second) return uncheckedShape(text);
  switch (name) {
    case "Record":
      return recordShape(read(first), readNestedShape({ ...type, node: second }, context), text);
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
