import type { ListShape, ObjectFields, ObjectShape, TypeShape } from "../../protocol/index.ts";

/**
 * Marks references to recursive types that may be omitted, such as `type Maybe = { next: Maybe } | undefined`. While such a
 * type is read, it is not known yet whether it may.
 */
export function withOptionalReferences(shape: TypeShape, shapes: readonly TypeShape[]): TypeShape {
  const mark = (part: TypeShape) => withOptionalReferences(part, shapes);
  const { list, object, ref, alternatives } = shape;
  return {
    ...shape,
    ...(ref !== undefined && shapes[ref]?.optional ? { optional: true } : {}),
    ...(list ? { list: mapList(list, mark) } : {}),
    ...(object ? { object: mapObject(object, mark) } : {}),
    ...(alternatives ? { alternatives: alternatives.map(mark) } : {}),
  };
}

function mapList(list: ListShape, map: (shape: TypeShape) => TypeShape): ListShape {
  if ("of" in list) return { of: map(list.of) };
  return { items: list.items.map(map), ...(list.rest ? { rest: map(list.rest) } : {}) };
}

function mapObject(object: ObjectShape, map: (shape: TypeShape) => TypeShape): ObjectShape {
  if ("cases" in object) return { ...object, cases: object.cases.map((fields) => mapFields(fields, map)) };
  return mapFields(object, map);
}

function mapFields(object: ObjectFields, map: (shape: TypeShape) => TypeShape): ObjectFields {
  return {
    ...object,
    fields: object.fields.map(([name, shape]) => [name, map(shape)] as const),
    ...(object.rest ? { rest: map(object.rest) } : {}),
  };
}
