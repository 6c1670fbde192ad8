/** The most of what a caller sent that is shown back: a value, a name, a key. */
const SHOWN = 40;

/** Cuts what a caller sent to the length at which it is shown back. */
function cut(text: string): string {
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
}

/**
 * Says, after what was expected, what came instead: `, got "three"`. Of a value that is named like a
 * secret nothing is said: its sender may well show the message on a page.
 */
export function instead(place: string, value: unknown): string {
  return isSecret(place) ? "" : `, got ${cut(JSON.stringify(value) ?? String(value))}`;
}

/** Answers whether a parameter, or a place in one, is named like a secret. Errs towards yes. */
export function isSecret(place: string): boolean {
  return /passw|passphrase|secret|token|credential|private_?key|api_?key|\bpin\b|otp/i.test(place);
}

/** Writes where in a parameter something stands: `items[2].price`, `prices["per day"]`. */
export function placeIn(parameter: string, path: readonly PropertyKey[]): string {
  return parameter + path.map(step).join("");
}

function step(key: PropertyKey): string {
  if (typeof key === "number") return `[${key}]`;
  const name = String(key);
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]{0,39}$/u.test(name) ? `.${name}` : `[${JSON.stringify(cut(name))}]`;
}
