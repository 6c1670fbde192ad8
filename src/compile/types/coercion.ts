import type { Parameter, ScalarKind, TypeShape } from "../../protocol/index.ts";
import { type Members, membersOf } from "./object-types.ts";
import { includesLiteral } from "./operations.ts";
import { readType } from "./read-type.ts";
import { createTypeContext, type TypeNode } from "./type-context.ts";
import { valueShape } from "./values.ts";

/**
 * Returns the shape of a type for coercion, with `int`, `float`, `boolean`, literals, `null` and `undefined` alone. `int` and
 * `float` are tsweb's, under any alias; `number` is `float`. Aliases of this module are followed, generic ones too. A type
 * that another module declares is unchecked: its values pass unchanged.
 *
 * @throws CompileError for a type that refers to itself, or a computed type that contains a checked type
 */
export function coercedShape(type: TypeNode): TypeShape {
  return readType(type, createTypeContext("coercion", readType));
}

/** Returns the shape of the type of a default value, as {@link coercedShape}. */
export function coercedValueShape(value: TypeNode): TypeShape {
  return valueShape(value, createTypeContext("coercion", readType));
}

/**
 * Returns the properties of the object type of a parameter; `undefined` for a type that is not one, or that cannot be read.
 *
 * @throws CompileError for a type that refers to itself
 */
export function parameterMembers(type: TypeNode): Members | undefined {
  return membersOf(type, createTypeContext("members", readType));
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
export function parameterCoercion({
  any,
  kinds = [],
  literals = [],
  nullable,
  optional,
}: TypeShape): Pick<Parameter, "type" | "nullable" | "optional" | "literals"> {
  const types = new Set<ScalarKind>(kinds);
  // `boolean` as the union of all its values. Other literals may stand beside it, as beside the keyword.
  if (literals.includes(true) && literals.includes(false)) types.add("boolean");
  const [type = "any"] = any === undefined && types.size === 1 ? types : [];
  const flags = { ...(nullable ? { nullable } : {}), ...(optional ? { optional } : {}) };
  if (type === "any" || type === "string") return { type: "any", ...flags };
  const passing = literals.filter((literal) => !includesLiteral(type, literal));
  return { type, ...flags, ...(passing.length > 0 ? { literals: passing } : {}) };
}
