import { setFlagsFromString } from "node:v8";

setFlagsFromString("--allow-natives-syntax");

/**
 * Returns whether V8 describes two objects by one hidden class. One of its own for each object takes more memory than a small
 * object, and code that reads such objects cannot be optimized.
 */
export const haveSameClass: (a: object, b: object) => boolean = new Function(
  "a",
  "b",
  "return %HaveSameMap(a, b)",
) as never; // the type of a function that is compiled from text is unknown
