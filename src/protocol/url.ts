/**
 * Returns the absolute URL of a text, or `null` if it is none. Not with `URL.canParse`: in Node 20, once V8 has compiled its callers,
 * it refuses hosts with letters such as ü.
 */
export function parseUrl(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}
