/** Returns the type of a value for an error message. The value itself is never shown: it may be a secret. */
export function describeType(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}
