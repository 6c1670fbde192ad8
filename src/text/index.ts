/** Texts of messages that several parts share: similar names, and advice about globals of browsers and about dates. */

export { browserGlobalAdvice } from "./browser-globals.ts";
export { closestName } from "./closest-name.ts";
export { dateMethodAdvice } from "./date-methods.ts";
