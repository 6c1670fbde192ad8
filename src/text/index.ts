/** Texts of messages that several parts share: similar names, and advice about errors of the engine. */
export { closestName } from "./closest-name.ts";
export { browserGlobalAdvice, dateMethodAdvice, missingImportAdvice, relativeUrlAdvice } from "./error-advice.ts";
