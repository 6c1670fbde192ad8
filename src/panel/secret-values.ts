/** The secrets of a request, which an error message may repeat: "Wrong password hunter2". */
import { isSecret, isSecretPair, REDACTED, secretMembers } from "./redact.ts";

/** Shorter texts occur in other words. The number of a card's check is as short as this. */
const MIN_CHARS = 3;

const MAX_DEPTH = 12;
const MAX_VALUES = 2_000;

/**
 * Returns the texts and numbers in a value that are named like secrets, at any depth. It never throws: a getter of the value
 * may.
 *
 * @param name the name of the value; if it is that of a secret, all texts in it are
 */
export function secretValues(value: unknown, name = ""): string[] {
  const search = new Search();
  try {
    search.visit(value, isSecret(name), 0);
  } catch {
    // The preview of the value shows that it cannot be read.
  }
  return [...search.found];
}

class Search {
  readonly found = new Set<string>();
  #visited = 0;

  visit(value: unknown, isHidden: boolean, depth: number): void {
    this.#visited++;
    if (this.#visited > MAX_VALUES || depth > MAX_DEPTH) return;
    if (typeof value === "object" && value !== null) {
      this.#visitMembers(value, isHidden, depth + 1);
    } else if (isHidden && ["string", "number", "bigint"].includes(typeof value)) {
      const text = String(value).trim();
      if (text.length >= MIN_CHARS) this.found.add(text);
    }
  }

  #visitMembers(value: object, isHidden: boolean, depth: number): void {
    if (Array.isArray(value) || value instanceof Set) {
      const items = [...value];
      for (const item of items) this.visit(item, isHidden || isSecretPair(items), depth);
      return;
    }
    const entries = value instanceof Map ? [...value] : Object.entries(value);
    const secret = secretMembers(entries);
    for (const [key, member] of entries) this.visit(member, isHidden || secret.has(String(key)), depth);
  }
}

/** Returns the secrets in a URL: the values of its query, and the segments of its path that are not shown. */
export function secretsOfUrl({ pathname, searchParams }: URL, shownPath: string): string[] {
  const segments = pathname.split("/");
  const shown = new Set((shownPath.split("?")[0] ?? "").split("/"));
  const hidden = shown.has(REDACTED) ? segments.filter((segment) => !shown.has(segment)) : [];
  const values = [...searchParams].filter(([name]) => isSecret(name)).map(([, value]) => value);
  return [...values, ...hidden.flatMap((segment) => [segment, decode(segment)])].filter(
    (text) => text.length >= MIN_CHARS,
  );
}

/** Returns a text without the secrets, also as they are written in JSON and in a URL. */
export function withoutSecrets(text: string, secrets: Iterable<string>): string {
  const forms = [...secrets].flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), encode(secret)]);
  // The longest first: one secret may contain another.
  const all = [...new Set(forms)].sort((one, other) => other.length - one.length);
  let shown = text;
  for (const secret of all) shown = shown.replaceAll(secret, REDACTED);
  return shown;
}

function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // broken percent-encoding
  }
}
