/** Texts of messages that several parts share: similar names, and advice about globals of browsers. */

export { browserGlobalAdvice } from "./browser-globals.ts";
export { closestName } from "./closest-name.ts";
