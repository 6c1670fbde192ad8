import type { Coercion, TypeShape } from "../protocol/index.ts";
import { coerceTo, MISMATCH } from "../rpc/index.ts";

/** The result of a conversion. */
export type Scalar = { readonly matches: true; readonly value: unknown } | { readonly matches: false };

/**
 * Converts the text of a field to a scalar type: a literal, a text, a number or a boolean, in this order. Numbers and
 * booleans are written as in calls.
 *
 * Every value of a form is a text. So a type that has `string` takes every text unchanged, and `int | boolean` takes
 * what either of them takes.
 *
 * @see docs/protocol.md 4.2 and 15.3
 */
export function convertScalar({ kinds = [], literals = [] }: TypeShape, text: string): Scalar {
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
