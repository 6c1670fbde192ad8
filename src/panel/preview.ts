import { isBlob } from "../protocol/index.ts";
import { isSecret, isSecretPair, REDACTED, redactText, secretMembers } from "./redact.ts";

const MAX_DEPTH = 6;
const MAX_ITEMS = 50;
const MAX_STRING_CHARS = 500;

/** The maximum length of a preview, in characters. */
export const MAX_PREVIEW_CHARS = 4_000;

/**
 * Returns a value as JSON that is shown to the developer: without secrets, and shortened. It never throws: a getter of the
 * value may.
 *
 * @param name the name of the value; a value with the name of a secret is not shown at all
 */
export function preview(value: unknown, name = ""): string {
  let json: string;
  try {
    json = JSON.stringify(copy(value, name, [])) ?? "undefined";
  } catch (error) {
    return `[not readable: ${error instanceof Error ? error.message : String(error)}]`;
  }
  return json.length > MAX_PREVIEW_CHARS ? `${json.slice(0, MAX_PREVIEW_CHARS)}…` : json;
}

/** Returns a copy of a value without secrets. `parents` are the objects that contain it. */
function copy(value: unknown, name: string, parents: readonly object[]): unknown {
  if (isSecret(name)) return hide(value);
  if (typeof value === "string") return shorten(redactText(value));
  if (typeof value === "bigint" || typeof value === "symbol") return `[${String(value)}]`;
  if (typeof value === "function") return "[function]";
  if (typeof value !== "object" || value === null) return value;
  if (parents.includes(value)) return "[circular]";
  if (parents.length >= MAX_DEPTH) return Array.isArray(value) ? "[…]" : "{…}";
  const path = [...parents, value];
  if (Array.isArray(value)) {
    if (isSecretPair(value)) return [value[0], hide(value[1])];
    return shortenList(value, value.length, (item) => copy(item, name, path));
  }
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "[invalid date]" : value.toISOString();
  if (isBlob(value)) return describeFile(value);
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`;
  if (value instanceof Map) return copyEntries([...value], path);
  if (value instanceof Set) return shortenList([...value], value.size, (item) => copy(item, name, path));
  return copyEntries(Object.entries(value), path);
}

/** Returns what is shown of a secret. A missing value is none, and useful to know. */
function hide(value: unknown): unknown {
  return value === undefined || value === null || value === "" ? value : REDACTED;
}

function copyEntries(entries: readonly (readonly [unknown, unknown])[], path: readonly object[]): unknown {
  const copied: Record<string, unknown> = Object.create(null);
  const secret = secretMembers(entries);
  for (const [key, value] of entries.slice(0, MAX_ITEMS)) {
    const name = String(key);
    copied[name] = secret.has(name) ? hide(value) : copy(value, name, path);
  }
  if (entries.length > MAX_ITEMS) copied["…"] = `${entries.length - MAX_ITEMS} more`;
  return copied;
}

function shortenList(items: readonly unknown[], length: number, copyItem: (item: unknown) => unknown): unknown[] {
  const shown = items.slice(0, MAX_ITEMS).map(copyItem);
  return length > MAX_ITEMS ? [...shown, `… ${length - MAX_ITEMS} more`] : shown;
}

function shorten(text: string): string {
  return text.length > MAX_STRING_CHARS ? `${text.slice(0, MAX_STRING_CHARS)}…` : text;
}

function describeFile(file: Blob): string {
  const { name = "" } = file as Partial<File>; // every File is a Blob
  return `[file ${name ? `${name}, ` : ""}${file.size} bytes${file.type ? `, ${file.type}` : ""}]`;
}

/** Returns JSON that is shown to the developer, as {@link preview}. */
export function previewJson(json: string): string {
  return preview(JSON.parse(json));
}
