/**
 * Reads the shape of a parameter's type, which strict applications check (docs/protocol.md 4.3), and of a result, which
 * the OpenAPI document describes. Types of other modules are included: the caller looks them up. A type that cannot be
 * read is unchecked, never rejected, because only strict applications and documents use shapes.
 */
export { addParameterShapes, readResultShape } from "./function-shapes.ts";
export { MAX_TYPE_NODES, type TypeDeclaration, type TypeLookup, type TypeModule } from "./shape-context.ts";
