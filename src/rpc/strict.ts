import type { Cases, Fields, ListShape, Shape, Signature } from "../protocol/index.ts";
import { REFUSED } from "./coerce.ts";
import { describe, scalarCheck } from "./scalars.ts";

/** Why a value was refused, and where in it. */
export interface Refusal {
  /** What was taken there, in words. */
  expected: string;
  /** What was there instead; nothing where a member is missing. */
  got: unknown;
  /** From the place out to the parameter. */
  readonly path: (string | number)[];
}

/** Gives the value as its type has it, or `REFUSED` after it has said why. */
export type Check = (value: unknown, refusal: Refusal) => unknown;

/** What a strict application checks of one parameter. */
export interface StrictCheck {
  /** What it takes, in words. */
  readonly takes: string;
  readonly check: Check;
}

/** What a strict application checks of one function, by parameter. */
export type StrictChecks = ReadonlyMap<string, StrictCheck>;

/**
 * Makes the checks of a function, once for all its calls. Within a value the rules are those of
 * coercion; objects get the members of their type and no others.
 *
 * @param except parameters that have a schema: that is what they are held to
 */
export function strictChecks({ params, shapes = [] }: Signature, except: (name: string) => boolean): StrictChecks {
  const refs: Refs = { shapes, checks: [] };
  // A type made of itself refers to its check, which is there by the time that a value comes.
  shapes.forEach((shape, index) => {
    refs.checks[index] = checkOf(shape, refs);
  });
  const checks = params.flatMap(({ name, shape }): [string, StrictCheck][] =>
    shape && !except(name) ? [[name, { takes: describe(shape, shapes), check: checkOf(shape, refs) }]] : [],
  );
  return new Map(checks);
}

interface Refs {
  readonly shapes: readonly Shape[];
  readonly checks: Check[];
}

function refuse(refusal: Refusal, expected: string, got: unknown): typeof REFUSED {
  refusal.expected = expected;
  refusal.got = got;
  return REFUSED;
}

function checkOf(shape: Shape, refs: Refs): Check {
  if (shape.any !== undefined) return (value) => value;
  if (shape.ref !== undefined) return referredCheck(shape, shape.ref, refs);
  const takes = describe(shape, refs.shapes);
  const scalar = scalarCheck(shape);
  const list = shape.list && listCheck(shape.list, refs);
  const object =
    shape.object && ("cases" in shape.object ? casesCheck(shape.object, refs) : fieldsCheck(shape.object, refs));
  const isNullable = shape.nullable === true;
  return (value, refusal) => {
    if (typeof value !== "object") {
      const taken = scalar(value);
      if (taken !== REFUSED) return taken;
    } else if (value === null) {
      if (isNullable) return null;
    } else if (Array.isArray(value)) {
      if (list) return list(value, refusal);
    } else if (object) {
      return object(value as Record<string, unknown>, refusal); // an object, and no array
    }
    return refuse(refusal, takes, value);
  };
}

/** What is no object is held to both the shape and the one it refers to; an object, and an array, to that one. */
function referredCheck(shape: Shape, ref: number, { shapes, checks }: Refs): Check {
  const { kinds = [], literals = [], any, nullable } = shapes[ref] ?? {};
  if (any !== undefined) return (value) => value;
  const both = [...kinds, ...(shape.kinds ?? [])];
  const scalar = scalarCheck({
    kinds: both.includes("float") ? both.filter((kind) => kind !== "int") : both,
    literals: [...literals, ...(shape.literals ?? [])],
  });
  const takes = describe(shape, shapes);
  const isNullable = nullable || shape.nullable;
  return (value, refusal) => {
    if (typeof value === "object" && value !== null) return checks[ref]?.(value, refusal);
    const taken = value === null && isNullable ? null : scalar(value);
    return taken === REFUSED ? refuse(refusal, takes, value) : taken;
  };
}

type ListCheck = (values: readonly unknown[], refusal: Refusal) => unknown;

function listCheck(list: ListShape, refs: Refs): ListCheck {
  if ("items" in list) return tupleCheck(list, refs);
  const item = itemCheck(list.of, refs);
  return (values, refusal) => {
    const taken: unknown[] = [];
    for (let index = 0; index < values.length; index++) {
      const value = item(values[index], refusal);
      if (value === REFUSED) {
        refusal.path.push(index);
        return REFUSED;
      }
      taken.push(value);
    }
    return taken;
  };
}

/** In a list `undefined` travels as null. */
function itemCheck(shape: Shape, refs: Refs): Check {
  const check = checkOf(shape, refs);
  if (!shape.optional || shape.nullable || shape.any !== undefined) return check;
  return (value, refusal) => (value === null ? undefined : check(value, refusal));
}

function tupleCheck({ items, rest }: Extract<ListShape, { items: unknown }>, refs: Refs): ListCheck {
  const checks = items.map((item) => itemCheck(item, refs));
  const restCheck = rest && itemCheck(rest, refs);
  const least = items.findLastIndex((item) => !item.optional) + 1;
  const takes = tupleWords(least, rest ? Number.POSITIVE_INFINITY : items.length);
  return (values, refusal) => {
    if (values.length < least || (!restCheck && values.length > checks.length)) return refuse(refusal, takes, values);
    const taken: unknown[] = [];
    for (let index = 0; index < values.length; index++) {
      const value = (checks[index] ?? restCheck)?.(values[index], refusal);
      if (value === REFUSED) {
        refusal.path.push(index);
        return REFUSED;
      }
      taken.push(value);
    }
    return taken;
  };
}

function tupleWords(least: number, most: number): string {
  if (least === most) return `array of ${least}`;
  return most === Number.POSITIVE_INFINITY ? `array of at least ${least}` : `array of ${least} to ${most}`;
}

type ObjectCheck = (value: Readonly<Record<string, unknown>>, refusal: Refusal) => unknown;

interface Member {
  readonly name: string;
  readonly check: Check;
  readonly optional: boolean;
  readonly takes: string;
}

function fieldsCheck({ fields, rest }: Fields, refs: Refs): ObjectCheck {
  const members = fields.map(([name, shape]): Member => {
    const takes = describe(shape, refs.shapes);
    return { name, check: checkOf(shape, refs), optional: shape.optional === true, takes };
  });
  const others = rest && othersCheck(rest, new Set(members.map(({ name }) => name)), refs);
  return (value, refusal) => {
    const taken: Record<string, unknown> = {};
    for (const { name, check, optional, takes } of members) {
      // Own members alone: one named `constructor` that was left out must not find another on the prototype.
      const given = Object.hasOwn(value, name) ? value[name] : undefined;
      if (given === undefined && optional) continue;
      const member = given === undefined ? refuse(refusal, takes, undefined) : check(given, refusal);
      if (member === REFUSED) {
        refusal.path.push(name);
        return REFUSED;
      }
      taken[name] = member;
    }
    return others ? others(value, taken, refusal) : taken;
  };
}

/** Checks the keys that are no members: what is behind them, and that none of them is `__proto__`. */
function othersCheck(rest: Shape, members: ReadonlySet<string>, refs: Refs) {
  const check = checkOf(rest, refs);
  return (value: Readonly<Record<string, unknown>>, taken: Record<string, unknown>, refusal: Refusal): unknown => {
    for (const key of Object.keys(value)) {
      if (members.has(key)) continue;
      const item = key === "__proto__" ? refuse(refusal, "another key", value[key]) : check(value[key], refusal);
      if (item === REFUSED) {
        refusal.path.push(key);
        return REFUSED;
      }
      taken[key] = item;
    }
    return taken;
  };
}

function casesCheck({ by, cases }: Cases, refs: Refs): ObjectCheck {
  const shape: Shape = { literals: cases.flatMap((each) => discriminants(each, by)) };
  const takes = describe(shape, refs.shapes);
  const which = scalarCheck(shape);
  const checks = new Map<unknown, ObjectCheck>();
  for (const each of cases) {
    const check = fieldsCheck(each, refs);
    for (const literal of discriminants(each, by)) checks.set(literal, check);
  }
  return (value, refusal) => {
    const given = Object.hasOwn(value, by) ? value[by] : undefined;
    const check = checks.get(which(given));
    if (check) return check(value, refusal);
    refusal.path.push(by);
    return refuse(refusal, takes, given);
  };
}

function discriminants({ fields }: Fields, by: string) {
  return fields.find(([name]) => name === by)?.[1].literals ?? [];
}
