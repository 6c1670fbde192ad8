import type { Kind, Shape } from "../protocol/index.ts";
import { coerceTo, REFUSED } from "./coerce.ts";

type Coerced = Exclude<Kind, "string">;

/**
 * Makes the check of a plain value: a literal passes as it is, and where one type of number or boolean
 * is all that stands beside, a value is coerced to it. Of several types none is coerced: which of two
 * readings of `"1"` was meant cannot be told.
 *
 * @returns gives the value as it is taken, or `REFUSED`
 */
export function scalarCheck({ kinds = [], literals = [] }: Shape): (value: unknown) => unknown {
  const [kind] = kinds;
  const exact = new Set<unknown>(literals);
  if (kind === undefined) return literalCheck(exact, literals);
  if (kinds.length > 1 || kind === "string") {
    return (value) => (exact.has(value) || kinds.some((each) => isOf(each, value)) ? value : REFUSED);
  }
  if (exact.size === 0) return (value) => coerceTo(kind, value);
  return (value) => (exact.has(value) ? value : coerceTo(kind, value));
}

function literalCheck(exact: ReadonlySet<unknown>, literals: readonly unknown[]): (value: unknown) => unknown {
  const kind = coercedKind(literals);
  return (value) => {
    if (exact.has(value)) return value;
    const coerced = kind === undefined ? REFUSED : coerceTo(kind, value);
    return exact.has(coerced) ? coerced : REFUSED;
  };
}

/** The one type that literals other than text are of; nothing when they are of two. */
function coercedKind(literals: readonly unknown[]): Coerced | undefined {
  const numbers = literals.filter((literal) => typeof literal === "number");
  const hasBooleans = literals.some((literal) => typeof literal === "boolean");
  if (numbers.length > 0) return hasBooleans ? undefined : numbers.every(Number.isInteger) ? "int" : "float";
  return hasBooleans ? "boolean" : undefined;
}

function isOf(kind: Kind, value: unknown): boolean {
  if (kind === "int") return Number.isSafeInteger(value);
  return kind === "float" ? Number.isFinite(value) : typeof value === kind;
}

/** Says what a shape takes, in words for its caller: `int or "all" or null`, `array`, `object`. */
export function describe(shape: Shape, shapes: readonly Shape[]): string {
  return [...new Set(words(shape, shapes))].join(" or ") || "nothing";
}

function words(shape: Shape, shapes: readonly Shape[]): readonly string[] {
  const { any, kinds = [], literals = [], nullable, list, object, ref } = shape;
  if (any !== undefined) return ["a value"];
  const referred = ref === undefined ? undefined : shapes[ref];
  return [
    ...kinds,
    ...literals.map((literal) => JSON.stringify(literal)),
    ...(referred ? words(referred, shapes) : []),
    ...(list ? ["array"] : []),
    ...(object ? ["object"] : []),
    ...(nullable ? ["null"] : []),
  ];
}
