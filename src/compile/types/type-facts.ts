import type { Coercion } from "../../protocol/index.ts";
import type { Node } from "../syntax/index.ts";

/** A type whose values are coerced and checked. */
export type CheckedType = Exclude<Coercion, "any">;

/** The part that one type annotation contributes to the coercion of a parameter, such as one member of a union. */
export interface TypeFacts {
  /** The checked types that the annotation names. */
  readonly types: readonly CheckedType[];
  /** The literal types that the annotation names. */
  readonly literals: readonly (string | number | boolean)[];
  readonly nullable?: true;
  readonly optional?: true;
  /** The annotation contains a type that is not checked. */
  readonly unchecked?: true;
}

/** The part of a `Parameter` that follows from its type. */
export interface ParameterCoercion {
  readonly type: Coercion;
  readonly nullable?: true;
  readonly optional?: true;
  readonly literals?: readonly (string | number | boolean)[];
}

/** Returns the facts of a type that is not checked. */
export function uncheckedFacts(): TypeFacts {
  return { types: [], literals: [], unchecked: true };
}

/** Returns the facts of a literal, `-1` included. Any other expression is unchecked. */
export function literalFacts(node: Node): TypeFacts {
  if (node.type === "UnaryExpression" && (node.operator === "-" || node.operator === "+")) {
    const operand = literalFacts(node.argument);
    const value = operand.literals[0];
    if (typeof value !== "number") return uncheckedFacts();
    return { types: [], literals: [node.operator === "-" ? -value : value] };
  }
  if (node.type !== "Literal") return uncheckedFacts();
  const { value } = node;
  if (value === null && node.raw === "null") return { types: [], literals: [], nullable: true };
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") {
    return { types: [], literals: [value] };
  }
  return uncheckedFacts();
}

/** Combines the facts of a union's members. */
export function unionFacts(members: readonly TypeFacts[]): TypeFacts {
  return {
    types: [...new Set(members.flatMap((member) => member.types))],
    literals: [...new Set(members.flatMap((member) => member.literals))],
    ...(members.some((member) => member.nullable) ? { nullable: true } : {}),
    ...(members.some((member) => member.optional) ? { optional: true } : {}),
    ...(members.some((member) => member.unchecked) ? { unchecked: true } : {}),
  };
}

/** Combines the facts of an intersection's members. A brand (`int & { readonly brand: "Age" }`) keeps the type it brands. */
export function intersectFacts(members: readonly TypeFacts[]): TypeFacts {
  const checked = members.filter((member) => member.types.length > 0 || member.literals.length > 0);
  if (checked.length === 0) return uncheckedFacts();
  const types = [...new Set(checked.flatMap((member) => member.types))];
  return {
    // `int & number` is `int`: the narrower type.
    types: types.includes("int") ? types.filter((type) => type !== "float") : types,
    literals: [...new Set(checked.flatMap((member) => member.literals))],
    ...(members.every((member) => member.nullable) ? { nullable: true } : {}),
    ...(members.every((member) => member.optional) ? { optional: true } : {}),
    ...(checked.some((member) => member.unchecked) ? { unchecked: true } : {}),
  };
}

/**
 * Returns how a parameter of a type is coerced.
 *
 * - One checked type, with or without `null`, `undefined` and literals: that type. Literals that the type
 *   does not accept pass unchanged (`int | "all"`). `int | number` is `number`.
 * - Literals alone (`1 | 2`, `true`): `any`. A coerced value might be none of them, and only a strict application checks
 *   that. `true | false` is `boolean`.
 * - A checked type in a union with any other type (`int | string`, `int | boolean`): `any`. It is ambiguous
 *   which of the two types the text `"1"` stands for.
 *
 * @see docs/protocol.md 4.2
 */
export function parameterCoercion(facts: TypeFacts): ParameterCoercion {
  const flags: Pick<ParameterCoercion, "nullable" | "optional"> = {
    ...(facts.nullable ? { nullable: true } : {}),
    ...(facts.optional ? { optional: true } : {}),
  };
  const type = facts.unchecked ? undefined : soleCheckedType(facts);
  if (type === undefined) return { type: "any", ...flags };
  const passing = facts.literals.filter((literal) => !accepts(type, literal));
  return { type, ...flags, ...(passing.length > 0 ? { literals: passing } : {}) };
}

function soleCheckedType(facts: TypeFacts): CheckedType | undefined {
  const types = new Set<CheckedType>(facts.types);
  // `boolean` as the union of all its values. Other literals may stand beside it, as beside the keyword.
  if (facts.literals.includes(true) && facts.literals.includes(false)) types.add("boolean");
  if (types.has("float")) types.delete("int");
  return types.size === 1 ? [...types][0] : undefined;
}

function accepts(type: CheckedType, literal: string | number | boolean): boolean {
  if (type === "boolean") return typeof literal === "boolean";
  return typeof literal === "number" && (type === "float" || Number.isInteger(literal));
}
