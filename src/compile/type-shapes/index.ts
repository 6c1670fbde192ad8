/**
 * Reads the shape of a parameter's type, which strict applications check (docs/protocol.md 4.3). Types of
 * other modules are included: the caller looks them up. A type that cannot be read is unchecked, never rejected,
 * because only strict applications use shapes.
 */
export { addParameterShapes } from "./parameters.ts";
export { MAX_TYPE_NODES, type TypeDeclaration, type TypeLookup, type TypeModule } from "./shape-context.ts";
