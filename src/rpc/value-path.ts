/** The maximum length at which a value, a name or a key that a caller sent is shown, in characters. */
const MAX_SHOWN_LENGTH = 40;

function truncate(text: string): string {
  return text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)}…` : text;
}

/**
 * Returns the value received, as the end of an error message: `, got "three"`. Returns an empty string if the path
 * is named like a secret, because the caller may show the message on a page or log it.
 */
export function describeReceived(path: string, value: unknown): string {
  if (isSecretName(path)) return "";
  // JSON.parse reads 1e400 as Infinity, whose JSON is null.
  const json = typeof value === "number" ? undefined : JSON.stringify(value);
  return `, got ${truncate(json ?? String(value))}`;
}

/** Returns whether a parameter, or a path inside one, is named like a secret. When unsure, it returns `true`. */
export function isSecretName(path: string): boolean {
  return /passw|passphrase|passcode|pwd|cvc|cvv|secret|token|credential|private_?key|api_?key|\bpin\b|otp/i.test(path);
}

/** Returns the path of a value inside a parameter: `items[2].price`, `prices["per day"]`. */
export function valuePath(parameter: string, keys: readonly PropertyKey[]): string {
  return parameter + keys.map(pathSegment).join("");
}

function pathSegment(key: PropertyKey): string {
  if (typeof key === "number") return `[${key}]`;
  const name = String(key);
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]{0,39}$/u.test(name) ? `.${name}` : `[${JSON.stringify(truncate(name))}]`;
}
