/**
 * Reads how the type annotation or the default value of a parameter is coerced (docs/protocol.md 4.2).
 * Types of other modules are not read here: `../type-shapes` reads them for strict applications.
 */

export { type Member, type Members, membersOf, propertyKey } from "./members.ts";
export { containsCheckedType, inferredFacts, typeFacts } from "./read-type.ts";
export type { ScopedType, TypeContext } from "./type-context.ts";
export { literalFacts, parameterCoercion, type TypeFacts } from "./type-facts.ts";
