/** Texts that are compared: names that are similar to others. */

export { closestName } from "./closest-name.ts";
