import type { FormValue } from "../bodies/index.ts";
import type { Coercion, ListShape, ObjectFields, ObjectShape, TypeShape } from "../protocol/index.ts";
import { coerceTo, MISMATCH } from "../rpc/index.ts";

/** What the conversion of a form's fields collects, and what it needs. */
export interface ConvertedFields {
  /** The recursive types that shapes refer to. */
  readonly shapes: readonly TypeShape[];
  /** The messages of fields that do not match, by field: at most {@link MAX_ERRORS}. */
  readonly errors: Map<string, string>;
  /** Whether a field of the parameter does not match. */
  refused: boolean;
  /** The names of the fields that are lists and have values. */
  readonly lists: Set<string>;
  /** Whether a schema checks the parameter afterwards. */
  readonly hasSchema: boolean;
}

/** Where a value is converted. */
export interface Place {
  /** The name of the field, with the names of the objects around it: `address.street`. */
  readonly path: string;
  readonly converted: ConvertedFields;
}

/**
 * Returns the value that the fields of one name stand for; `undefined` if it is absent, or if it does not match its
 * type. Then its message is added to the errors.
 *
 * @param node the fields; `undefined` if the form has none of this name
 * @see docs/protocol.md 15.3
 */
export function convertField(shape: TypeShape, node: FieldNode | undefined, place: Place): unknown {
  // A recursive type ends where the fields end.
  if (shape.ref !== undefined && !node) return shape.optional ? undefined : absent(shape, place);
  const resolved = resolve(shape, place.converted.shapes);
  if (resolved.any !== undefined) return convertUnchecked(resolved, node, place);
  const { list, object } = resolved;
  if (list && !isScalarField(resolved, node)) return convertList(list, node, place);
  if (object && (node === undefined || node.members.size > 0 || !hasScalar(resolved))) {
    return isBlank(node) && isOmissible(resolved) ? blankValue(resolved) : convertObject(object, node, place);
  }
  return convertText(resolved, node, place);
}

/** The results of {@link resolve}, as long as the signature lives: the fields of one form can ask 60,000 times. */
const resolvedShapes = new WeakMap<TypeShape, TypeShape>();

/** Returns a shape with the members of the recursive type that it refers to. */
function resolve(shape: TypeShape, shapes: readonly TypeShape[]): TypeShape {
  const target = shape.ref === undefined ? undefined : shapes[shape.ref];
  if (!target) return shape;
  const known = resolvedShapes.get(shape);
  if (known) return known;
  const { ref: _, ...own } = shape;
  const resolved = {
    ...target,
    ...own,
    kinds: [...(target.kinds ?? []), ...(own.kinds ?? [])],
    literals: [...(target.literals ?? []), ...(own.literals ?? [])],
  };
  resolvedShapes.set(shape, resolved);
  return resolved;
}

function hasScalar({ kinds = [], literals = [] }: TypeShape): boolean {
  return kinds.length > 0 || literals.length > 0;
}

/** Returns whether the fields of a list type are one plain value, which the type allows too: `string | string[]`. */
function isScalarField(shape: TypeShape, node: FieldNode | undefined): boolean {
  return hasScalar(shape) && node !== undefined && node.members.size === 0 && node.values.length < 2;
}

function isOmissible({ optional, nullable }: TypeShape): boolean {
  return optional === true || nullable === true;
}

/** Returns the value of an empty field that may be omitted. */
function blankValue({ optional }: TypeShape): null | undefined {
  return optional ? undefined : null;
}

/** Returns whether fields contain nothing that was typed. */
function isBlank(node: FieldNode | undefined): boolean {
  if (!node) return true;
  return node.values.every((value) => value === "") && [...node.members.values()].every(isBlank);
}

/** The maximum number of messages about one form, which may have 1,000 fields. Names of deep fields are long. */
const MAX_ERRORS = 1_000;

/** Adds the message of a field that does not match. */
export function refuse({ path, converted }: Place, message: string): undefined {
  converted.refused = true;
  if (converted.errors.size < MAX_ERRORS && !converted.errors.has(path)) converted.errors.set(path, message);
}

/** Handles a recursive value without fields. */
function absent(shape: TypeShape, place: Place): unknown {
  const { list } = resolve(shape, place.converted.shapes);
  if (list) return [];
  return shape.nullable ? null : refuse(place, MESSAGES.required);
}

function member({ path, converted }: Place, name: string): Place {
  return { path: `${path}.${name}`, converted };
}

function textsOf(node: FieldNode | undefined): string[] {
  return node?.values.filter((value) => typeof value === "string") ?? [];
}

/** Converts one text. Of several fields with one name, the last counts, as of a hidden field before a checkbox. */
function convertText(shape: TypeShape, node: FieldNode | undefined, place: Place): unknown {
  const text = textsOf(node).at(-1);
  if (text === undefined) {
    if (shape.kinds?.length === 1 && shape.kinds[0] === "boolean") return false; // a checkbox that is not checked
    return shape.optional ? undefined : refuse(place, MESSAGES.required);
  }
  if (text === "" && !shape.literals?.includes("")) {
    if (isOmissible(shape)) return blankValue(shape);
    if (!shape.kinds?.includes("string")) return refuse(place, MESSAGES.required);
  }
  return convertNonEmpty(shape, text, place);
}

function convertNonEmpty(shape: TypeShape, text: string, place: Place): unknown {
  const scalar: Scalar = convertScalar(shape, text);
  if (scalar.matches) return scalar.value;
  // A schema takes the place of the check of literals, as for calls in strict applications.
  const isConverted = shape.kinds?.some((kind) => kind !== "string");
  if (place.converted.hasSchema && !isConverted) return text;
  return refuse(place, mismatchMessage(shape));
}

/** Converts fields whose type is not known: one text, or a list of several. */
function convertUnchecked(shape: TypeShape, node: FieldNode | undefined, place: Place): unknown {
  const texts = textsOf(node);
  const [first] = texts;
  if (first === undefined) return shape.optional ? undefined : refuse(place, MESSAGES.required);
  if (texts.length > 1) {
    place.converted.lists.add(place.path);
    return texts;
  }
  return first === "" && isOmissible(shape) ? blankValue(shape) : first;
}

function convertList(list: ListShape, node: FieldNode | undefined, place: Place): unknown {
  if (node && node.values.length > 0) place.converted.lists.add(place.path);
  const items = itemsOf(node);
  if (!("items" in list)) return items.map(([key, item]) => convertField(list.of, item, itemPlace(place, key)));
  const minLength = list.items.findLastIndex((item) => !item.optional) + 1;
  if (items.length < minLength || (!list.rest && items.length > list.items.length)) {
    return refuse(place, items.length === 0 ? MESSAGES.required : MESSAGES.invalid);
  }
  return items.map(([key, item], index) => {
    const shape = list.items[index] ?? list.rest;
    return shape && convertField(shape, item, itemPlace(place, key));
  });
}

function itemPlace(place: Place, key: string | null): Place {
  return key === null ? place : member(place, key);
}

type Item = readonly [key: string | null, node: FieldNode];

/** Returns the items of a list: the fields of its name or, without any, its members `0`, `1` … by their numbers. */
function itemsOf(node: FieldNode | undefined): Item[] {
  if (!node) return [];
  const texts = textsOf(node);
  if (texts.length > 0) return texts.map((text) => [null, { values: [text], members: new Map() }]);
  return [...node.members].filter(([key]) => /^\d{1,9}$/.test(key)).sort(([a], [b]) => Number(a) - Number(b));
}

function convertObject(object: ObjectShape, node: FieldNode | undefined, place: Place): unknown {
  const fields = "cases" in object ? selectCase(object, node) : object;
  if (!fields) {
    const by = "cases" in object ? object.by : "";
    return refuse(member(place, by), isBlank(node?.members.get(by)) ? MESSAGES.required : MESSAGES.choice);
  }
  const result: Record<string, unknown> = {};
  const add = (name: string, shape: TypeShape) => {
    const value = convertField(shape, node?.members.get(name), member(place, name));
    if (value !== undefined) Object.defineProperty(result, name, { value, ...PLAIN });
  };
  for (const [name, shape] of fields.fields) add(name, shape);
  if (fields.rest) {
    const declared = new Set(fields.fields.map(([name]) => name));
    for (const name of node?.members.keys() ?? []) if (!declared.has(name)) add(name, fields.rest);
  }
  return result;
}

/** Assignment would call a setter that the prototype has, for a name of the form. */
const PLAIN = { enumerable: true, configurable: true, writable: true } as const;

/** Returns the case of a discriminated union that the field of its literal selects. */
function selectCase(
  { by, cases }: Extract<ObjectShape, { by: string }>,
  node: FieldNode | undefined,
): ObjectFields | undefined {
  const text = textsOf(node?.members.get(by)).at(-1);
  return cases.find(({ fields }) => {
    const shape = fields.find(([name]) => name === by)?.[1];
    return text !== undefined && shape !== undefined && convertScalar(shape, text).matches;
  });
}

/** The result of a conversion. */
type Scalar = { readonly matches: true; readonly value: unknown } | { readonly matches: false };

/**
 * Converts the text of a field to a scalar type: a literal, a text, a number or a boolean, in this order. Numbers and
 * booleans are written as in calls.
 *
 * Every value of a form is a text. So a type that has `string` takes every text unchanged, and `int | boolean` takes
 * what either of them takes.
 *
 * @see docs/protocol.md 4.2 and 15.3
 */
function convertScalar({ kinds = [], literals = [] }: TypeShape, text: string): Scalar {
  if (literals.includes(text) || kinds.includes("string")) return { matches: true, value: text };
  for (const literal of literals) {
    if (coerceTo(kindOf(literal), text) === literal) return { matches: true, value: literal };
  }
  for (const kind of kinds) {
    const value = coerceTo(kind === "string" ? "any" : kind, text);
    if (value !== MISMATCH) return { matches: true, value };
  }
  return { matches: false };
}

function kindOf(literal: string | number | boolean): Coercion {
  if (typeof literal === "boolean") return "boolean";
  return typeof literal === "number" ? "float" : "any";
}

/** The messages about fields. They are for users of the application, unlike those of calls. */
export const MESSAGES = {
  required: "This field is required.",
  int: "Enter a whole number.",
  float: "Enter a number.",
  boolean: "Choose yes or no.",
  file: "Choose a file.",
  choice: "Choose one of the options.",
  invalid: "This value is not valid.",
} as const;

/** Returns the message for a text that does not match its type. */
function mismatchMessage({ kinds = [], literals = [] }: TypeShape): string {
  if (literals.length > 0 && kinds.length === 0) return MESSAGES.choice;
  const [kind] = kinds;
  if (literals.length > 0 || kinds.length !== 1 || kind === undefined || kind === "string") return MESSAGES.invalid;
  return MESSAGES[kind];
}

/** The values of a form by the name of their field. */
export type FormFields = ReadonlyMap<string, readonly FormValue[]>;

/** The fields of one name, and those whose names continue it after a dot. */
export interface FieldNode {
  readonly values: FormValue[];
  readonly members: Map<string, FieldNode>;
}

/** The maximum number of segments in the name of a field: arguments of calls nest no deeper. */
const MAX_SEGMENTS = 64;

/** Names that could reach a prototype when application code copies an object (prototype pollution). */
const UNSAFE_NAMES: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

/**
 * Returns the fields of a form as a tree: `address.street` is the member `street` of `address`.
 *
 * Fields with a segment `__proto__`, `constructor` or `prototype`, with an empty segment, or with more than 64 segments
 * are left out. They are never a parameter.
 *
 * @see docs/protocol.md 15.3
 */
export function buildFieldTree(fields: FormFields): FieldNode {
  const root = emptyNode();
  for (const [name, values] of fields) {
    const segments = segmentsOf(name);
    if (!segments) continue;
    let node = root;
    for (const segment of segments) node = memberOf(node, segment);
    node.values.push(...values);
  }
  return root;
}

/** Returns the segments of a field's name, or `null` if it can never be that of a parameter. */
export function segmentsOf(name: string): readonly string[] | null {
  const segments = name.split(".", MAX_SEGMENTS + 1);
  const isValid = segments.length <= MAX_SEGMENTS && segments.every((segment) => segment && !UNSAFE_NAMES.has(segment));
  return isValid ? segments : null;
}

function emptyNode(): FieldNode {
  return { values: [], members: new Map() };
}

function memberOf({ members }: FieldNode, name: string): FieldNode {
  const existing = members.get(name);
  if (existing) return existing;
  const node = emptyNode();
  members.set(name, node);
  return node;
}
