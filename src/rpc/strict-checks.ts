import type {
  ListShape,
  ObjectFields,
  ObjectShape,
  Parameter,
  ScalarKind,
  Signature,
  TypeShape,
  UnionCases,
} from "../protocol/index.ts";
import { coerceTo, MISMATCH } from "./coerce.ts";

/** Why a value does not match its type. */
export interface TypeMismatch {
  /** The type that is expected, as the error names it. */
  expected: string;
  /** The value received; `undefined` if a member is missing. */
  received: unknown;
  /** The keys that lead to the value, innermost first: the error is passed outwards from where it was found. */
  readonly path: (string | number)[];
}

/** Returns the value coerced to its type, or `MISMATCH` after it has filled in `mismatch`. */
export type Check = (value: unknown, mismatch: TypeMismatch) => unknown;

/** The check of one parameter in a strict application. */
export interface ParameterCheck {
  /** The type of the parameter, as errors name it. */
  readonly expected: string;
  readonly check: Check;
}

/** The checks of one function in a strict application, by the name of the parameter. */
export type ParameterChecks = ReadonlyMap<string, ParameterCheck>;

/**
 * Compiles the checks of a function's parameters. This is done once, when the application starts.
 *
 * Inside a value the same coercion applies as to a whole parameter. A checked object has only the members of its type.
 *
 * @param hasSchema returns whether a parameter is checked by a schema instead
 * @see docs/protocol.md 4.3
 */
export function compileParameterChecks(
  { params, shapes = [] }: Signature,
  hasSchema: (name: string) => boolean,
): ParameterChecks {
  const refs: ShapeReferences = { shapes, checks: [] };
  // A recursive type looks up its check when a value is checked: by then all checks are compiled.
  shapes.forEach((shape, index) => {
    refs.checks[index] = checkOf(shape, refs);
  });
  const checks = params.flatMap(({ name, shape }): [string, ParameterCheck][] =>
    shape && !hasSchema(name) ? [[name, { expected: describeShape(shape, shapes), check: checkOf(shape, refs) }]] : [],
  );
  return new Map(checks);
}

interface ShapeReferences {
  readonly shapes: readonly TypeShape[];
  readonly checks: Check[];
}

function reportMismatch(mismatch: TypeMismatch, expected: string, received: unknown): typeof MISMATCH {
  mismatch.expected = expected;
  mismatch.received = received;
  return MISMATCH;
}

function checkOf(shape: TypeShape, refs: ShapeReferences): Check {
  if (shape.any !== undefined) return (value) => value;
  if (shape.ref !== undefined) return referenceCheck(shape, shape.ref, refs);
  const expected = describeShape(shape, refs.shapes);
  const scalar = scalarCheck(shape);
  const list = shape.list && listCheck(shape.list, refs);
  const object =
    shape.object && ("cases" in shape.object ? unionCheck(shape.object, refs) : objectCheck(shape.object, refs));
  const isNullable = shape.nullable === true;
  return (value, mismatch) => {
    if (typeof value !== "object") {
      const result = scalar(value);
      if (result !== MISMATCH) return result;
    } else if (value === null) {
      if (isNullable) return null;
    } else if (Array.isArray(value)) {
      if (list) return list(value, mismatch);
    } else if (object) {
      return object(value as Record<string, unknown>, mismatch); // not an array: checked above
    }
    return reportMismatch(mismatch, expected, value);
  };
}

/** An object or array is checked against the referenced shape, any other value against both shapes together. */
function referenceCheck(shape: TypeShape, ref: number, { shapes, checks }: ShapeReferences): Check {
  const { kinds = [], literals = [], any, nullable } = shapes[ref] ?? {};
  if (any !== undefined) return (value) => value;
  const both = [...kinds, ...(shape.kinds ?? [])];
  const scalar = scalarCheck({
    kinds: both.includes("float") ? both.filter((kind) => kind !== "int") : both,
    literals: [...literals, ...(shape.literals ?? [])],
  });
  const expected = describeShape(shape, shapes);
  const isNullable = nullable || shape.nullable;
  return (value, mismatch) => {
    if (typeof value === "object" && value !== null) return checks[ref]?.(value, mismatch);
    const result = value === null && isNullable ? null : scalar(value);
    return result === MISMATCH ? reportMismatch(mismatch, expected, value) : result;
  };
}

type ListCheck = (values: readonly unknown[], mismatch: TypeMismatch) => unknown;

function listCheck(list: ListShape, refs: ShapeReferences): ListCheck {
  if ("items" in list) return tupleCheck(list, refs);
  const item = itemCheck(list.of, refs);
  return (values, mismatch) => checkItems(values, () => item, mismatch);
}

function checkItems(
  values: readonly unknown[],
  checkAt: (index: number) => Check | undefined,
  mismatch: TypeMismatch,
): unknown {
  const result: unknown[] = [];
  for (let index = 0; index < values.length; index++) {
    const value = checkAt(index)?.(values[index], mismatch);
    if (value === MISMATCH) {
      mismatch.path.push(index);
      return MISMATCH;
    }
    result.push(value);
  }
  return result;
}

/** In an array, `undefined` is sent as `null`. */
function itemCheck(shape: TypeShape, refs: ShapeReferences): Check {
  const check = checkOf(shape, refs);
  if (!shape.optional || shape.nullable || shape.any !== undefined) return check;
  return (value, mismatch) => (value === null ? undefined : check(value, mismatch));
}

function tupleCheck({ items, rest }: Extract<ListShape, { items: unknown }>, refs: ShapeReferences): ListCheck {
  const checks = items.map((item) => itemCheck(item, refs));
  const restCheck = rest && itemCheck(rest, refs);
  const minLength = items.findLastIndex((item) => !item.optional) + 1;
  const expected = describeTuple(minLength, rest ? Number.POSITIVE_INFINITY : items.length);
  return (values, mismatch) => {
    if (values.length < minLength || (!restCheck && values.length > checks.length))
      return reportMismatch(mismatch, expected, values);
    return checkItems(values, (index) => checks[index] ?? restCheck, mismatch);
  };
}

function describeTuple(minLength: number, maxLength: number): string {
  if (minLength === maxLength) return `array of ${minLength}`;
  return maxLength === Number.POSITIVE_INFINITY
    ? `array of at least ${minLength}`
    : `array of ${minLength} to ${maxLength}`;
}

type ObjectCheck = (value: Readonly<Record<string, unknown>>, mismatch: TypeMismatch) => unknown;

interface Member {
  readonly name: string;
  readonly check: Check;
  readonly optional: boolean;
  readonly expected: string;
}

function objectCheck({ fields, rest }: ObjectFields, refs: ShapeReferences): ObjectCheck {
  const members = fields.map(([name, shape]): Member => {
    const expected = describeShape(shape, refs.shapes);
    return { name, check: checkOf(shape, refs), optional: shape.optional === true, expected };
  });
  const checkRest = rest && restCheckOf(rest, new Set(members.map(({ name }) => name)), refs);
  return (value, mismatch) => {
    const result: Record<string, unknown> = {};
    for (const { name, check, optional, expected } of members) {
      // Own properties only: an omitted member named `constructor` must not be inherited.
      const input = Object.hasOwn(value, name) ? value[name] : undefined;
      if (input === undefined && optional) continue;
      const member = input === undefined ? reportMismatch(mismatch, expected, undefined) : check(input, mismatch);
      if (member === MISMATCH) {
        mismatch.path.push(name);
        return MISMATCH;
      }
      result[name] = member;
    }
    return checkRest ? checkRest(value, result, mismatch) : result;
  };
}

/** Checks the values of all keys that are not members. Rejects the key `__proto__` (prototype pollution). */
function restCheckOf(rest: TypeShape, members: ReadonlySet<string>, refs: ShapeReferences) {
  const check = checkOf(rest, refs);
  return (
    value: Readonly<Record<string, unknown>>,
    result: Record<string, unknown>,
    mismatch: TypeMismatch,
  ): unknown => {
    for (const key of Object.keys(value)) {
      if (members.has(key)) continue;
      const item =
        key === "__proto__" ? reportMismatch(mismatch, "another key", value[key]) : check(value[key], mismatch);
      if (item === MISMATCH) {
        mismatch.path.push(key);
        return MISMATCH;
      }
      result[key] = item;
    }
    return result;
  };
}

function unionCheck({ by, cases }: UnionCases, refs: ShapeReferences): ObjectCheck {
  const shape: TypeShape = { literals: cases.flatMap((unionCase) => discriminants(unionCase, by)) };
  const expected = describeShape(shape, refs.shapes);
  const matchLiteral = scalarCheck(shape);
  const checks = new Map<unknown, ObjectCheck>();
  for (const unionCase of cases) {
    const check = objectCheck(unionCase, refs);
    for (const literal of discriminants(unionCase, by)) checks.set(literal, check);
  }
  return (value, mismatch) => {
    const input = Object.hasOwn(value, by) ? value[by] : undefined;
    const check = checks.get(matchLiteral(input));
    if (check) return check(value, mismatch);
    mismatch.path.push(by);
    return reportMismatch(mismatch, expected, input);
  };
}

function discriminants({ fields }: ObjectFields, by: string) {
  return fields.find(([name]) => name === by)?.[1].literals ?? [];
}

type CoercedKind = Exclude<ScalarKind, "string">;

/**
 * Compiles the check of a scalar value. A literal passes as it is. If a single number or boolean type stands beside
 * the literals, the value is coerced to it. With several types nothing is coerced, because `"1"` could be read as each
 * of them.
 *
 * @returns a function that returns the coerced value, or `MISMATCH`
 * @see docs/protocol.md 4.3
 */
function scalarCheck({ kinds = [], literals = [] }: TypeShape): (value: unknown) => unknown {
  const [kind] = kinds;
  const exact = new Set<unknown>(literals);
  if (kind === undefined) return literalCheck(exact, literals);
  if (kinds.length > 1 || kind === "string") {
    return (value) => (exact.has(value) || kinds.some((candidate) => isOfKind(candidate, value)) ? value : MISMATCH);
  }
  if (exact.size === 0) return (value) => coerceTo(kind, value);
  return (value) => (exact.has(value) ? value : coerceTo(kind, value));
}

function literalCheck(exact: ReadonlySet<unknown>, literals: readonly unknown[]): (value: unknown) => unknown {
  const kind = commonKind(literals);
  return (value) => {
    if (exact.has(value)) return value;
    const coerced = kind === undefined ? MISMATCH : coerceTo(kind, value);
    return exact.has(coerced) ? coerced : MISMATCH;
  };
}

/** Returns the one type of all literals that are not strings; `undefined` if there are two types or none. */
function commonKind(literals: readonly unknown[]): CoercedKind | undefined {
  const numbers = literals.filter((literal) => typeof literal === "number");
  const hasBooleans = literals.some((literal) => typeof literal === "boolean");
  if (numbers.length > 0) return hasBooleans ? undefined : numbers.every(Number.isInteger) ? "int" : "float";
  return hasBooleans ? "boolean" : undefined;
}

function isOfKind(kind: ScalarKind, value: unknown): boolean {
  if (kind === "int") return Number.isSafeInteger(value);
  return kind === "float" ? Number.isFinite(value) : typeof value === kind;
}

/** Returns the type of a shape as errors name it: `int or "all" or null`, `array`, `object`. */
function describeShape(shape: TypeShape, shapes: readonly TypeShape[]): string {
  return [...new Set(typeNames(shape, shapes))].join(" or ") || "nothing";
}

function typeNames(shape: TypeShape, shapes: readonly TypeShape[]): readonly string[] {
  const { any, kinds = [], literals = [], file, nullable, list, object, ref } = shape;
  if (any !== undefined) return ["a value"];
  const referenced = ref === undefined ? undefined : shapes[ref];
  return [
    ...kinds,
    ...literals.map((literal) => JSON.stringify(literal)),
    ...(file ? ["file"] : []),
    ...(referenced ? typeNames(referenced, shapes) : []),
    ...(list ? ["array"] : []),
    ...(object ? ["object"] : []),
    ...(nullable ? ["null"] : []),
  ];
}

/** How much of a parameter's value is checked before its function runs. */
export type CheckCoverage = "full" | "partial" | "none";

/**
 * Returns how much of a parameter's value is checked before its function runs.
 *
 * @param strict whether the application is strict
 */
export function checkCoverage(
  parameter: Parameter,
  { shapes = [] }: Pick<Signature, "shapes">,
  strict: boolean,
): CheckCoverage {
  if (parameter.files) return "full"; // in every application
  if (!strict || !parameter.shape) return parameter.type === "any" ? "none" : "full";
  return uncheckedParts(parameter, { shapes }).length > 0 ? "partial" : "full";
}

/** Returns the parts of a parameter that a strict application does not check: `order.items[].at: Date`. */
export function uncheckedParts({ name, shape }: Parameter, { shapes = [] }: Pick<Signature, "shapes">): string[] {
  const unchecked: string[] = [];
  const visited = new Set<number>();
  const visit = (part: TypeShape, path: string): void => {
    if (part.any !== undefined) unchecked.push(part.any === "" ? path : `${path}: ${part.any}`);
    if (part.list) for (const [key, inner] of itemsOf(part.list)) visit(inner, path + key);
    if (part.object) for (const [key, inner] of membersOf(part.object)) visit(inner, path + key);
    // A recursive type is visited once, where it first occurs.
    if (part.ref === undefined || visited.has(part.ref)) return;
    visited.add(part.ref);
    const referenced = shapes[part.ref];
    if (referenced) visit(referenced, path);
  };
  if (shape) visit(shape, name);
  return [...new Set(unchecked)];
}

function itemsOf(list: ListShape): (readonly [key: string, shape: TypeShape])[] {
  if ("of" in list) return [["[]", list.of]];
  const items = list.items.map((item, index) => [`[${index}]`, item] as const);
  return list.rest ? [...items, ["[]", list.rest]] : items;
}

function membersOf(object: ObjectShape): (readonly [key: string, shape: TypeShape])[] {
  const cases = "cases" in object ? object.cases : [object];
  return cases.flatMap(({ fields, rest }) => [
    ...fields.map(([name, shape]) => [`.${name}`, shape] as const),
    ...(rest ? [["[…]", rest] as const] : []),
  ]);
}
