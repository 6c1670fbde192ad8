/** A browser's own account of what it asked an authenticator for. @see WebAuthn Level 3, section 5.8.1 */
export interface ClientData {
  readonly type: unknown;
  readonly challenge: unknown;
  readonly origin: unknown;
  readonly crossOrigin: unknown;
  readonly topOrigin: unknown;
}

/** Browsers write some 200 bytes, more for a long challenge. */
const MAX_BYTES = 65_536;

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Reads client data; `null` for what is not a JSON object in UTF-8, of 64 KiB at most. Its fields are as they came. */
export function readClientData(bytes: Uint8Array): ClientData | null {
  if (bytes.byteLength > MAX_BYTES) return null;
  try {
    const value: unknown = JSON.parse(utf8.decode(bytes));
    if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
    const { type, challenge, origin, crossOrigin, topOrigin } = value as Record<string, unknown>; // so JSON has them
    return { type, challenge, origin, crossOrigin, topOrigin };
  } catch {
    return null; // not UTF-8, or not JSON: which of them helps nobody
  }
}
