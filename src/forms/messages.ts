import type { TypeShape } from "../protocol/index.ts";

/** The messages about fields. They are for users of the application, unlike those of calls. */
export const MESSAGES = {
  required: "This field is required.",
  int: "Enter a whole number.",
  float: "Enter a number.",
  boolean: "Choose yes or no.",
  file: "Choose a file.",
  choice: "Choose one of the options.",
  invalid: "This value is not valid.",
} as const;

/** Returns the message for a text that does not match its type. */
export function mismatchMessage({ kinds = [], literals = [] }: TypeShape): string {
  if (literals.length > 0 && kinds.length === 0) return MESSAGES.choice;
  const [kind] = kinds;
  if (literals.length > 0 || kinds.length !== 1 || kind === undefined || kind === "string") return MESSAGES.invalid;
  return MESSAGES[kind];
}
