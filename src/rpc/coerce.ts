import type { Coercion, Parameter } from "../protocol/index.ts";

/** What a refused value gives back in place of a value. */
export const REFUSED: unique symbol = Symbol("refused");

/**
 * Takes a value as a parameter's type has it, or gives {@link REFUSED}.
 *
 * - `int`: a whole number, or a string of one (`" 42 "`, `"-3"`), within ±(2^53−1)
 * - `float`: a finite number, or a string of one
 * - `boolean`: `true`/`false`, `1`/`0`, and `true false 1 0 yes no on off` in any case
 * - `any`: whatever came
 *
 * @see the design, section 3
 */
export function coerce(parameter: Parameter, value: unknown): unknown {
  if (value === null && parameter.nullable) return null;
  if (parameter.literals?.some((literal) => literal === value)) return value;
  return coerceTo(parameter.type, value);
}

/** Takes a value as one type has it, or gives {@link REFUSED}. */
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
  // -0 is 0: an int has no sign of its own at zero.
  return Number.isSafeInteger(number) ? (number as number) + 0 || 0 : REFUSED;
}

/** Written so that no digit can be matched in two ways: a long row of them must not cost its square. */
const DECIMAL = /^\s*[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?\s*$/i;

function toFloat(value: unknown): unknown {
  const number = typeof value === "string" && DECIMAL.test(value) ? Number(value) : value;
  return Number.isFinite(number) ? number : REFUSED;
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
      return REFUSED;
  }
}

/** Says what a parameter takes, in words for its caller: `int`, `int or null`, `int or "all"`. */
export function expected(parameter: Parameter): string {
  const literals = (parameter.literals ?? []).map((literal) => JSON.stringify(literal));
  return [parameter.type, ...literals, ...(parameter.nullable ? ["null"] : [])].join(" or ");
}
