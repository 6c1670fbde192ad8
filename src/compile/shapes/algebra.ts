import type { Fields, Kind, Literal, ObjectShape, Shape } from "../../protocol/index.ts";

/** Gives the shape of what nothing checks: its type as it is written. */
export function unchecked(text: string, optional?: true): Shape {
  return { any: text, ...(optional ? { optional } : {}) };
}

/**
 * Joins the shapes of a union's members. Unchecked is what a value alone could not decide: two kinds of
 * array, or object types that no literal member tells apart.
 *
 * @param text the union as it is written, for what is unchecked
 */
export function union(parts: readonly Shape[], text: string): Shape {
  const optional = parts.some((part) => part.optional) || undefined;
  const lists = parts.flatMap((part) => part.list ?? []);
  const objects = parts.flatMap((part) => part.object ?? []);
  const refs = new Set(parts.flatMap((part) => part.ref ?? []));
  const object = objects.length > 1 ? toldApart(objects) : objects[0];
  const scalars = scalarsOf(parts);
  const isUnclear =
    parts.some((part) => part.any !== undefined) ||
    lists.length > 1 ||
    (objects.length > 0 && object === undefined) ||
    refs.size > 1 ||
    (refs.size > 0 && lists.length + objects.length > 0);
  if (isUnclear) return unchecked(text, optional);
  const [list] = lists;
  const [ref] = refs;
  return {
    ...scalars,
    ...(parts.some((part) => part.nullable) ? { nullable: true } : {}),
    ...(optional ? { optional } : {}),
    ...(list ? { list } : {}),
    ...(object ? { object } : {}),
    ...(ref === undefined ? {} : { ref }),
  };
}

function scalarsOf(parts: readonly Shape[]): Pick<Shape, "kinds" | "literals"> {
  const kinds = new Set(parts.flatMap((part) => part.kinds ?? []));
  // An int is a float.
  if (kinds.has("float")) kinds.delete("int");
  const literals = new Set(parts.flatMap((part) => part.literals ?? []));
  for (const literal of literals) if ([...kinds].some((kind) => includes(kind, literal))) literals.delete(literal);
  // Both of its literals make the type itself.
  if (literals.has(true) && literals.has(false) && literals.size === 2 && kinds.size === 0) {
    return { kinds: ["boolean"] };
  }
  return {
    ...(kinds.size > 0 ? { kinds: [...kinds] } : {}),
    ...(literals.size > 0 ? { literals: [...literals] } : {}),
  };
}

function includes(kind: Kind, literal: Literal): boolean {
  if (kind === "int") return Number.isInteger(literal);
  return kind === "float" ? typeof literal === "number" : typeof literal === kind;
}

/** Finds the member whose literals differ from object to object; `undefined` when there is none. */
function toldApart(objects: readonly ObjectShape[]): ObjectShape | undefined {
  const cases = objects.flatMap((object) => ("cases" in object ? object.cases : [object]));
  const by = cases[0]?.fields.find(([name]) => isDiscriminant(name, cases))?.[0];
  return by === undefined ? undefined : { by, cases };
}

function isDiscriminant(name: string, cases: readonly Fields[]): boolean {
  const literals = cases.map(({ fields }) => onlyLiterals(fields.find(([field]) => field === name)?.[1]));
  const all = literals.flatMap((each) => each ?? []);
  return literals.every((each) => each !== undefined) && new Set(all).size === all.length;
}

function onlyLiterals(shape: Shape | undefined): readonly Literal[] | undefined {
  const { literals, ...others } = shape ?? {};
  return Object.keys(others).length === 0 ? literals : undefined;
}

/**
 * Meets the shapes of an intersection: object types are one with the members of all, and a brand leaves
 * the type that it brands.
 *
 * @param text the intersection as it is written, for what is unchecked
 */
export function intersect(parts: readonly Shape[], text: string): Shape {
  const scalar = parts.filter((part) => part.kinds || part.literals);
  if (scalar.length > 0) return meetScalars(scalar, text);
  const objects: Fields[] = [];
  for (const { object, ...others } of parts) {
    if (!object || "cases" in object || Object.keys(others).length > 0) return unchecked(text);
    objects.push(object);
  }
  const object = joinFields(objects);
  return object ? { object } : unchecked(text);
}

/** An int that is also a number is an int, literals that are also strings are the literals. */
function meetScalars(parts: readonly Shape[], text: string): Shape {
  const exact = parts.filter((part) => !part.list && !part.object && part.ref === undefined);
  if (exact.length < parts.length) return unchecked(text);
  const [narrowest, ...others] = [...exact].sort((a, b) => breadth(a) - breadth(b));
  if (!narrowest || others.some((other) => !isWithin(narrowest, other))) return unchecked(text);
  return narrowest;
}

function breadth({ kinds = [], literals = [] }: Shape): number {
  return kinds.length === 0 ? 0 : 1 + kinds.length + (kinds.includes("float") ? 1 : 0) + literals.length;
}

function isWithin(inner: Shape, outer: Shape): boolean {
  const { kinds = [], literals = [] } = outer;
  return (
    (inner.kinds ?? []).every((kind) => kinds.includes(kind) || (kind === "int" && kinds.includes("float"))) &&
    (inner.literals ?? []).every((each) => literals.includes(each) || kinds.some((kind) => includes(kind, each)))
  );
}

/**
 * Joins the members of several object types. A member of two of them must be the same in both.
 *
 * @returns `undefined` when it is not, which is then for nobody to check
 */
export function joinFields(objects: readonly Fields[]): Fields | undefined {
  const fields = new Map<string, Shape>();
  const rests = objects.flatMap((object) => object.rest ?? []);
  for (const [name, shape] of objects.flatMap((object) => object.fields)) {
    const known = fields.get(name);
    if (known && JSON.stringify(known) !== JSON.stringify(shape)) return undefined;
    fields.set(name, shape);
  }
  // What one type holds of all other keys, the members of another would have to hold to as well.
  if (rests.length > 0 && objects.length > 1) return undefined;
  const [rest] = rests;
  return { fields: [...fields], ...(rest ? { rest } : {}) };
}

/** Takes what `Exclude` takes away; unchecked where that is more than literals, `null` and `undefined`. */
export function exclude(from: Shape, away: Shape, text: string): Shape {
  const { literals: gone = [], nullable, optional, ...others } = away;
  if (Object.keys(others).length > 0 || from.any !== undefined) return unchecked(text);
  const { literals = [], nullable: _null, optional: _undefined, ...kept } = from;
  const left = literals.filter((literal) => !gone.includes(literal));
  return {
    ...kept,
    ...(left.length > 0 ? { literals: left } : {}),
    ...(from.nullable && !nullable ? { nullable: true } : {}),
    ...(from.optional && !optional ? { optional: true } : {}),
  };
}
