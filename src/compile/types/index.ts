/**
 * Reads how the type annotation or the default value of a parameter is coerced (docs/protocol.md 4.2).
 * Types of other modules are not read here: `../type-shapes` reads them for strict applications.
 */
export { containsCheckedType, inferredFacts, typeFacts } from "./read-type.ts";
export {
  type Member,
  type Members,
  membersOf,
  propertyKey,
  type ScopedType,
  type TypeContext,
} from "./resolve-type.ts";
export { literalFacts, parameterCoercion, type TypeFacts } from "./type-facts.ts";
