import type { ListShape, ObjectFields, TypeShape } from "../../src/protocol/index.ts";

/** How shapes are written as TypeScript types. */
export interface ShapeNotation {
  /** Whether the types are those of JSON: `undefined` in an array is `null`. */
  readonly json: boolean;
  /** Whether arrays are `readonly`, so that values of such types are accepted. */
  readonly readonly: boolean;
  /** Returns the name of a recursive type. */
  readonly nameOf: (ref: number) => string;
}

/** Returns the TypeScript type of a shape. An unchecked part is `unknown`. */
export function shapeSource(shape: TypeShape, notation: ShapeNotation): string {
  const { any, kinds = [], literals = [], nullable, list, object, ref, file, alternatives = [] } = shape;
  if (any !== undefined) return "unknown";
  const objects = object && ("cases" in object ? object.cases : [object]);
  const types = [
    ...kinds.map((kind) => (kind === "int" || kind === "float" ? "number" : kind)),
    ...literals.map((literal) => JSON.stringify(literal)),
    ...(nullable ? ["null"] : []),
    ...(list ? [listSource(list, notation)] : []),
    ...(objects ?? []).map((fields) => fieldsSource(fields, notation)),
    ...(ref === undefined ? [] : [notation.nameOf(ref)]),
    ...(file ? [file] : []),
    ...alternatives.map((alternative) => shapeSource(alternative, notation)),
  ];
  return types.length === 0 ? "never" : types.map((type) => `(${type})`).join(" | ");
}

/** Returns the TypeScript type of a whole value, or of an array's item. */
export function valueSource(shape: TypeShape, notation: ShapeNotation): string {
  const absent = notation.json ? "null" : "undefined";
  return `(${shapeSource(shape, notation)}${shape.optional ? ` | ${absent}` : ""})`;
}

function listSource(list: ListShape, notation: ShapeNotation): string {
  const modifier = notation.readonly ? "readonly " : "";
  if ("of" in list) return `${modifier}${valueSource(list.of, notation)}[]`;
  const firstOptional = list.items.findLastIndex(({ optional }) => !optional) + 1;
  const items = list.items.map((item, index) => `${valueSource(item, notation)}${index >= firstOptional ? "?" : ""}`);
  return `${modifier}[${[...items, ...(list.rest ? [`...${valueSource(list.rest, notation)}[]`] : [])].join(", ")}]`;
}

function fieldsSource({ fields, rest }: ObjectFields, notation: ShapeNotation): string {
  const members = fields.map(([name, shape]) => {
    const type = shapeSource(shape, notation);
    return `${JSON.stringify(name)}${shape.optional ? "?" : ""}: ${shape.optional ? `(${type}) | undefined` : type};`;
  });
  const index = rest
    ? ` & { [key: string]: ${shapeSource(rest, notation)}${rest.optional ? " | undefined" : ""} }`
    : "";
  return `({ ${members.join(" ")} }${index})`;
}

/**
 * Returns whether a shape is the same type as the one that it was read from: no part of it is unknown, and none is
 * optional, since a shape does not distinguish `a?: T` from `a: T | undefined`.
 */
export function isExact(shape: unknown): boolean {
  return !/"(any|optional)":/.test(JSON.stringify(shape));
}
