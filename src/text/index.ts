/** Texts of messages that several parts share: similar names, and advice about globals of browsers, dates and missing imports. */

export { browserGlobalAdvice } from "./browser-globals.ts";
export { closestName } from "./closest-name.ts";
export { dateMethodAdvice } from "./date-methods.ts";
export { missingImportAdvice } from "./missing-imports.ts";
