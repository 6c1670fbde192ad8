import type { ScalarKind, TypeShape } from "../protocol/index.ts";
import { coerceTo, MISMATCH } from "./coerce.ts";

type CoercedKind = Exclude<ScalarKind, "string">;

/**
 * Compiles the check of a scalar value. A literal passes as it is. If a single number or boolean type stands beside
 * the literals, the value is coerced to it. With several types nothing is coerced, because `"1"` could be read as each
 * of them.
 *
 * @returns a function that returns the coerced value, or `MISMATCH`
 * @see docs/protocol.md 4.3
 */
export function scalarCheck({ kinds = [], literals = [] }: TypeShape): (value: unknown) => unknown {
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
export function describeShape(shape: TypeShape, shapes: readonly TypeShape[]): string {
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
