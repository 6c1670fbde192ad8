import type { Coercion, Parameter } from "../protocol/index.ts";

/** Returned in place of a value that does not match its type. */
export const MISMATCH: unique symbol = Symbol("mismatch");

/**
 * Returns the value coerced to the parameter's type, or {@link MISMATCH}.
 *
 * - `int`: a whole number, or a string of one (`" 42 "`, `"-3"`), within ±(2^53−1)
 * - `float`: a finite number, or a string of one
 * - `boolean`: `true`/`false`, `1`/`0`, and `true false 1 0 yes no on off` in any case
 * - `any`: every value, unchanged
 *
 * @see docs/protocol.md 4.2
 */
export function coerce(parameter: Parameter, value: unknown): unknown {
  if (value === null && parameter.nullable) return null;
  if (parameter.literals?.some((literal) => literal === value)) return value;
  return coerceTo(parameter.type, value);
}

/** Returns the value coerced to one type, or {@link MISMATCH}. */
export function coerceTo(type: Coercion, value: unknown): unknown {
  switch (type) {
    case "int":
      return toInt(value);
    case "float":
      return toFloat(value);
    case "boolean":
      return toBoolean(value);
    case "any":
      return value;
  }
}

function toInt(value: unknown): unknown {
  const number = typeof value === "string" && /^\s*[+-]?\d+\s*$/.test(value) ? Number(value) : value;
  // -0 becomes 0: an integer has no negative zero.
  return Number.isSafeInteger(number) ? (number as number) + 0 || 0 : MISMATCH;
}

/** No digit can match in two ways: otherwise a long string of digits would take quadratic time (ReDoS). */
const DECIMAL = /^\s*[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?\s*$/i;

function toFloat(value: unknown): unknown {
  const number = typeof value === "string" && DECIMAL.test(value) ? Number(value) : value;
  return Number.isFinite(number) ? number : MISMATCH;
}

function toBoolean(value: unknown): unknown {
  switch (typeof value === "string" ? value.trim().toLowerCase() : value) {
    case true:
    case 1:
    case "true":
    case "1":
    case "yes":
    case "on":
      return true;
    case false:
    case 0:
    case "false":
    case "0":
    case "no":
    case "off":
      return false;
    default:
      return MISMATCH;
  }
}

/** Returns the type of a parameter as errors name it: `int`, `int or null`, `int or "all"`. */
export function describeExpected(parameter: Parameter): string {
  const literals = (parameter.literals ?? []).map((literal) => JSON.stringify(literal));
  return [parameter.type, ...literals, ...(parameter.nullable ? ["null"] : [])].join(" or ");
}
