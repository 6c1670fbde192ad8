import type { Coercion } from "../protocol/index.ts";

/** The types that are checked. */
export type Checked = Exclude<Coercion, "any">;

/** What a type says about checking, before it is known what stands beside it in a union. */
export interface Facts {
  /** The checked types named outright. */
  readonly kinds: readonly Checked[];
  /** The literal types. */
  readonly literals: readonly (string | number | boolean)[];
  readonly nullable?: true;
  readonly optional?: true;
  /** Something else is in it, which is documentation only. */
  readonly other?: true;
}

/** How a parameter is checked: the part of a parameter that its type decides. */
export interface Check {
  readonly type: Coercion;
  readonly nullable?: true;
  readonly optional?: true;
  readonly literals?: readonly (string | number | boolean)[];
}

/** The facts of a type that is documentation only. */
export function any(): Facts {
  return { kinds: [], literals: [], other: true };
}

/** Joins the facts of a union's members. */
export function union(members: readonly Facts[]): Facts {
  return {
    kinds: [...new Set(members.flatMap((m) => m.kinds))],
    literals: [...new Set(members.flatMap((m) => m.literals))],
    ...flag(
      "nullable",
      members.some((m) => m.nullable),
    ),
    ...flag(
      "optional",
      members.some((m) => m.optional),
    ),
    ...flag(
      "other",
      members.some((m) => m.other),
    ),
  };
}

/** Meets the facts of an intersection: a brand (`int & { readonly brand: "Age" }`) leaves the type it brands. */
export function intersect(members: readonly Facts[]): Facts {
  const said = members.filter((m) => m.kinds.length > 0 || m.literals.length > 0);
  if (said.length === 0) return any();
  const kinds = [...new Set(said.flatMap((m) => m.kinds))];
  return {
    // An int that is also a number is an int: the narrower of the two holds.
    kinds: kinds.includes("int") ? kinds.filter((kind) => kind !== "float") : kinds,
    literals: [...new Set(said.flatMap((m) => m.literals))],
    ...flag(
      "nullable",
      members.every((m) => m.nullable),
    ),
    ...flag(
      "optional",
      members.every((m) => m.optional),
    ),
    ...flag(
      "other",
      said.some((m) => m.other),
    ),
  };
}

/**
 * Decides how a parameter is checked.
 *
 * - One checked type, with or without `null`, `undefined` and literals: that one. The literals it would
 *   not take itself pass as they are (`int | "all"`); `int` with `number` is `number`.
 * - Number literals alone (`1 | 2`) are `int` when all are whole, else `float`; `true` or `false` is `boolean`.
 * - A checked type beside any other type (`int | string`, `int | boolean`) is documentation only, `any`:
 *   `"three"` is what such a parameter asks for, and which of two readings of `"1"` was meant cannot be told.
 */
export function decide(facts: Facts): Check {
  const flags = { ...flag("nullable", facts.nullable), ...flag("optional", facts.optional) };
  const type = facts.other ? undefined : soleKind(facts);
  if (type === undefined) return { type: "any", ...flags };
  const passing = facts.literals.filter((literal) => !takes(type, literal));
  return { type, ...flags, ...(passing.length > 0 ? { literals: passing } : {}) };
}

function soleKind(facts: Facts): Checked | undefined {
  const kinds = new Set<Checked>(facts.kinds);
  if (kinds.size === 0) {
    for (const literal of facts.literals) {
      if (typeof literal === "number") kinds.add(Number.isInteger(literal) ? "int" : "float");
      if (typeof literal === "boolean") kinds.add("boolean");
    }
  }
  if (kinds.has("float")) kinds.delete("int");
  return kinds.size === 1 ? [...kinds][0] : undefined;
}

function takes(type: Checked, literal: string | number | boolean): boolean {
  if (type === "boolean") return typeof literal === "boolean";
  return typeof literal === "number" && (type === "float" || Number.isInteger(literal));
}

function flag<K extends string>(name: K, on: boolean | undefined): { readonly [key in K]?: true } {
  // The computed key widens to an index signature; it is exactly the key asked for.
  return (on ? { [name]: true } : {}) as { readonly [key in K]?: true };
}
