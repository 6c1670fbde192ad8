import { parseJson } from "../http/index.ts";
/** The browser's description of the ceremony, not yet checked. @see WebAuthn Level 3, section 5.8.1 */
export interface ClientData {
  readonly type: unknown;
  readonly challenge: unknown;
  readonly origin: unknown;
  readonly crossOrigin: unknown;
  readonly topOrigin: unknown;
}

/** The maximum size, in bytes. Browsers write about 200 bytes, and more for a long challenge. */
const MAX_BYTES = 65_536;

const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * Returns the client data of a ceremony, with unchecked members; `null` unless the bytes are a JSON object in UTF-8, of
 * at most 64 KiB.
 */
export function parseClientData(bytes: Uint8Array): ClientData | null {
  if (bytes.byteLength > MAX_BYTES) return null;
  try {
    const value: unknown = parseJson(utf8.decode(bytes));
    if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
    const { type, challenge, origin, crossOrigin, topOrigin } = value as Record<string, unknown>; // a JSON object
    return { type, challenge, origin, crossOrigin, topOrigin };
  } catch {
    return null; // Invalid UTF-8 and invalid JSON are refused in the same way.
  }
}
