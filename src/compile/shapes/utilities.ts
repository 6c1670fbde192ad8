import type { Fields, Shape } from "../../protocol/index.ts";
import { exclude, unchecked } from "./algebra.ts";
import type { Reference } from "./named.ts";
import { listShape, readInside, readShape } from "./read.ts";
import { type Reading, type Site, textOf } from "./reading.ts";

/** Reads a type that every module has: `Array`, `Record`, and those that make a type of another. */
export function utilityShape(name: string, site: Site, reference: Reference, reading: Reading): Shape {
  const [first, second] = reference.typeArguments?.params ?? [];
  const read = (node: Site["node"]) => readShape({ ...site, node }, reading);
  const text = textOf(site);
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
  if (!first) return unchecked(text);
  switch (name) {
    case "Array":
    case "ReadonlyArray":
      return listShape(site, first, reading);
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
  if (!second) return unchecked(text);
  switch (name) {
    case "Record":
      return recordShape(read(first), readInside({ ...site, node: second }, reading), text);
    case "Exclude":
      return exclude(read(first), read(second), text);
    case "Pick":
    case "Omit": {
      const { literals, ...others } = read(second);
      if (!literals || Object.keys(others).length > 0) return unchecked(text);
      return mapFields(read(first), text, (fields) =>
        fields.filter(([key]) => literals.includes(key) === (name === "Pick")),
      );
    }
    default:
      return unchecked(text);
  }
}

function mapFields(shape: Shape, text: string, map: (fields: Fields["fields"]) => Fields["fields"]): Shape {
  const { object, ...others } = shape;
  // Of a type that is more than one object, or has keys of any name, it would be something else.
  if (!object || !("fields" in object) || object.rest || Object.keys(others).length > 0) return unchecked(text);
  return { object: { fields: map(object.fields) } };
}

function recordShape(keys: Shape, value: Shape, text: string): Shape {
  const { kinds, literals, ...others } = keys;
  if (Object.keys(others).length > 0) return unchecked(text);
  if (kinds?.includes("string")) return { object: { fields: [], rest: value } };
  if (kinds || !literals || literals.some((key) => typeof key !== "string" || key === "__proto__")) {
    return unchecked(text);
  }
  return { object: { fields: literals.map((key) => [String(key), value]) } };
}
