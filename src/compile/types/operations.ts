import type { Literal, ObjectFields, ObjectShape, ScalarKind, TypeShape } from "../../protocol/index.ts";
import type { Node } from "../syntax/index.ts";
import type { TypeContext } from "./type-context.ts";

type TypeUse = TypeContext["use"];

/** Returns the shape of an unchecked type. `text` is its source text. */
export function uncheckedShape(text: string, optional?: true): TypeShape {
  return { any: text, ...(optional ? { optional } : {}) };
}

/** Returns the shape of a literal, `-1` included. Any other expression is unchecked. */
export function literalShape(node: Node, text: string): TypeShape {
  if (node.type === "UnaryExpression" && (node.operator === "-" || node.operator === "+")) {
    const [value] = literalShape(node.argument, text).literals ?? [];
    if (typeof value !== "number") return uncheckedShape(text);
    return { literals: [node.operator === "-" ? -value : value] };
  }
  if (node.type !== "Literal") return uncheckedShape(text);
  const { value } = node;
  if (value === null && node.raw === "null") return { nullable: true };
  const isLiteral = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
  return isLiteral ? { literals: [value] } : uncheckedShape(text);
}

/**
 * Returns the shape of a union. An argument's is unchecked when the member that a value belongs to is ambiguous: with
 * two array types, or with object types that no literal property discriminates. A result's has alternatives then.
 *
 * @param text the source text of the union, for an unchecked shape
 */
export function unionShapes(parts: readonly TypeShape[], text: string, use: TypeUse): TypeShape {
  const lists = parts.flatMap((part) => part.list ?? []);
  const objects = parts.flatMap((part) => part.object ?? []);
  const refs = new Set(parts.flatMap((part) => part.ref ?? []));
  const files = parts.flatMap((part) => part.file ?? []);
  const object = objects.length > 1 ? discriminatedUnion(objects) : objects[0];
  const isAmbiguous =
    parts.some((part) => part.alternatives) ||
    lists.length > 1 ||
    (objects.length > 0 && object === undefined) ||
    refs.size > 1 ||
    (refs.size > 0 && lists.length + objects.length > 0);
  const scalars: TypeShape = {
    ...unionScalars(parts),
    ...(files.length > 0 ? { file: files.includes("Blob") ? "Blob" : "File" } : {}),
    ...(parts.some((part) => part.nullable) ? { nullable: true } : {}),
    ...(parts.some((part) => part.optional) ? { optional: true } : {}),
  };
  if (parts.some((part) => part.any !== undefined) || (isAmbiguous && use !== "result")) {
    return use === "coercion" ? { any: text, ...scalars } : uncheckedShape(text, scalars.optional);
  }
  if (isAmbiguous) return { ...scalars, alternatives: alternatives(parts) };
  const [list] = lists;
  const [ref] = refs;
  return {
    ...scalars,
    ...(list ? { list } : {}),
    ...(object ? { object } : {}),
    ...(ref === undefined ? {} : { ref }),
  };
}

/** Returns the array types, object types and recursive types of a union, each once. */
function alternatives(parts: readonly TypeShape[]): TypeShape[] {
  const all = parts.flatMap(({ list, object, ref, alternatives: inner = [] }): TypeShape[] => [
    ...(list ? [{ list }] : []),
    ...(object ? [{ object }] : []),
    ...(ref === undefined ? [] : [{ ref }]),
    ...inner,
  ]);
  return [...new Map(all.map((shape) => [JSON.stringify(shape), shape])).values()];
}

function unionScalars(parts: readonly TypeShape[]): Pick<TypeShape, "kinds" | "literals" | "format"> {
  const kinds = new Set(parts.flatMap((part) => part.kinds ?? []));
  // Every int is a float.
  if (kinds.has("float")) kinds.delete("int");
  const literals = new Set(parts.flatMap((part) => part.literals ?? []));
  for (const literal of literals)
    if ([...kinds].some((kind) => includesLiteral(kind, literal))) literals.delete(literal);
  // `true | false` is `boolean`.
  if (literals.has(true) && literals.has(false) && literals.size === 2 && kinds.size === 0) {
    return { kinds: ["boolean"] };
  }
  const formats = new Set(parts.flatMap((part) => (part.kinds?.includes("string") ? [part.format] : [])));
  const [format] = formats;
  return {
    ...(kinds.size > 0 ? { kinds: [...kinds] } : {}),
    ...(literals.size > 0 ? { literals: [...literals] } : {}),
    ...(format && formats.size === 1 ? { format } : {}),
  };
}

export function includesLiteral(kind: ScalarKind, literal: Literal): boolean {
  if (kind === "int") return Number.isInteger(literal);
  return kind === "float" ? typeof literal === "number" : typeof literal === kind;
}

/** Returns the union with the first property that discriminates it; `undefined` when there is none. */
function discriminatedUnion(objects: readonly ObjectShape[]): ObjectShape | undefined {
  const cases = objects.flatMap((object) => ("cases" in object ? object.cases : [object]));
  const by = cases[0]?.fields.find(([name]) => isDiscriminant(name, cases))?.[0];
  return by === undefined ? undefined : { by, cases };
}

function isDiscriminant(name: string, cases: readonly ObjectFields[]): boolean {
  const literals = cases.map(({ fields }) => onlyLiterals(fields.find(([field]) => field === name)?.[1]));
  const values = literals.flatMap((caseLiterals) => caseLiterals ?? []);
  return literals.every((caseLiterals) => caseLiterals !== undefined) && new Set(values).size === values.length;
}

function onlyLiterals(shape: TypeShape | undefined): readonly Literal[] | undefined {
  const { literals, ...others } = shape ?? {};
  return Object.keys(others).length === 0 ? literals : undefined;
}

/**
 * Returns the shape of an intersection: the fields of all object types, or the type that a brand is added to.
 *
 * @param text the source text of the intersection, for an unchecked shape
 */
export function intersectShapes(parts: readonly TypeShape[], text: string, use: TypeUse): TypeShape {
  if (use === "coercion") return intersectCoerced(parts, text);
  // `any & string` is `any`.
  if (use !== "members" && parts.some((part) => part.any === "any")) return uncheckedShape(text);
  if (use !== "members" && parts.some((part) => part.kinds || part.literals)) return intersectScalars(parts, text);
  const objects = parts.flatMap((part) => onlyFields(part) ?? []);
  if (objects.length < (use === "members" ? 1 : parts.length)) return uncheckedShape(text);
  const object = joinFields(objects, use);
  return object ? { object } : uncheckedShape(text);
}

/** Returns the fields of a type that is one object type; `undefined` for any other. */
export function onlyFields({ object, ...others }: TypeShape): ObjectFields | undefined {
  return object && "fields" in object && Object.keys(others).length === 0 ? object : undefined;
}

/** Returns all checked types and literals of the members. A brand (`int & { readonly brand: "Age" }`) has none. */
function intersectCoerced(parts: readonly TypeShape[], text: string): TypeShape {
  const checked = parts.filter((part) => part.kinds || part.literals);
  if (checked.length === 0 || checked.some((part) => part.any !== undefined)) return uncheckedShape(text);
  const kinds = new Set(checked.flatMap((part) => part.kinds ?? []));
  // `int & number` is `int`: the narrower type.
  if (kinds.has("int")) kinds.delete("float");
  return {
    ...(kinds.size > 0 ? { kinds: [...kinds] } : {}),
    literals: [...new Set(checked.flatMap((part) => part.literals ?? []))],
    ...(parts.every((part) => part.nullable) ? { nullable: true } : {}),
    ...(parts.every((part) => part.optional) ? { optional: true } : {}),
  };
}

/** Returns the narrowest member: `int & number` is `int`, `"a" & string` is `"a"`. */
function intersectScalars(parts: readonly TypeShape[], text: string): TypeShape {
  const scalar = parts.filter((part) => part.kinds || part.literals);
  const isExact = scalar.every(
    ({ list, object, ref, alternatives, file }) => !list && !object && ref === undefined && !alternatives && !file,
  );
  // A brand is an object type, or a type that cannot be read. Anything else has no values in common with a scalar.
  const hasBrands = parts.every((part) => scalar.includes(part) || part.any !== undefined || isObject(part));
  const [narrowest, ...others] = [...scalar].sort((a, b) => breadth(a) - breadth(b));
  if (!isExact || !hasBrands || !narrowest || others.some((other) => !isSubtype(narrowest, other)))
    return uncheckedShape(text);
  const { nullable, optional, ...values } = narrowest;
  return {
    ...values,
    ...(nullable && parts.every((part) => part.nullable || part.any !== undefined) ? { nullable } : {}),
    ...(optional && parts.every((part) => part.optional || part.any !== undefined) ? { optional } : {}),
  };
}

function isObject({ object, ...others }: TypeShape): boolean {
  return object !== undefined && !others.list && !others.file && others.ref === undefined && !others.alternatives;
}

function breadth({ kinds = [], literals = [] }: TypeShape): number {
  return kinds.length === 0 ? 0 : 1 + kinds.length + (kinds.includes("float") ? 1 : 0) + literals.length;
}

function isSubtype(inner: TypeShape, outer: TypeShape): boolean {
  const { kinds = [], literals = [] } = outer;
  return (
    (inner.kinds ?? []).every((kind) => kinds.includes(kind) || (kind === "int" && kinds.includes("float"))) &&
    (inner.literals ?? []).every(
      (literal) => literals.includes(literal) || kinds.some((kind) => includesLiteral(kind, literal)),
    )
  );
}

/**
 * Joins the fields of several object types.
 *
 * @returns `undefined` when two of them have different types for one field. In `members` the last one counts.
 */
export function joinFields(objects: readonly ObjectFields[], use: TypeUse): ObjectFields | undefined {
  const fields = new Map<string, TypeShape>();
  const rests = objects.flatMap((object) => object.rest ?? []);
  for (const [name, shape] of objects.flatMap((object) => object.fields)) {
    const existing = fields.get(name);
    if (use !== "members" && existing && JSON.stringify(existing) !== JSON.stringify(shape)) return undefined;
    fields.set(name, shape);
  }
  // The fields of one type would also have to match the index signature of another.
  if (rests.length > 0 && objects.length > 1) return undefined;
  const [rest] = rests;
  return { fields: [...fields], ...(rest ? { rest } : {}) };
}

/** Returns the shape of `Exclude<from, excluded>`; `undefined` when `excluded` is more than literals, `null` and `undefined`. */
export function excludeLiterals(from: TypeShape, excluded: TypeShape): TypeShape | undefined {
  const { literals: removed = [], nullable, optional, ...others } = excluded;
  if (Object.keys(others).length > 0 || from.any !== undefined) return undefined;
  // `Exclude<boolean, true>` is `false`.
  const splitsBoolean = from.kinds?.includes("boolean") && removed.some((literal) => typeof literal === "boolean");
  if (splitsBoolean) return undefined;
  const { literals = [], nullable: _null, optional: _undefined, ...kept } = from;
  const remaining = literals.filter((literal) => !removed.includes(literal));
  return {
    ...kept,
    ...(remaining.length > 0 ? { literals: remaining } : {}),
    ...(from.nullable && !nullable ? { nullable: true } : {}),
    ...(from.optional && !optional ? { optional: true } : {}),
  };
}
