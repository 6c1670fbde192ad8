/** The most of what a caller sent that is shown back: a value, a name, a key. */
const SHOWN = 40;

/** Cuts what a caller sent to the length at which it is shown back. */
export function cut(text: string): string {
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
}

/** Shows a refused value back to its sender. */
export function shown(value: unknown): string {
  return cut(JSON.stringify(value) ?? String(value));
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
