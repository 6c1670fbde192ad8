/** Texts of messages that several parts share: similar names, and advice about errors of the engine. */

export { browserGlobalAdvice } from "./browser-globals.ts";
export { closestName } from "./closest-name.ts";
export { dateMethodAdvice } from "./date-methods.ts";
export { missingImportAdvice } from "./missing-imports.ts";
export { relativeUrlAdvice } from "./relative-urls.ts";
